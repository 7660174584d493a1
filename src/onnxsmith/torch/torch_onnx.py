"""`for_torch_onnx`: a script as an entry of `torch.onnx.export`'s own `custom_translation_table`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import onnx
import onnx_ir as ir

from onnxsmith.errors import ExportError, MissingDependencyError, boundary
from onnxsmith.scripting.functions.function import ScriptFunction

OpSchema: Any = onnx.defs.OpSchema  # its stubs leave out the constructors
_TENSORS = sorted(
    kind
    for each in onnx.defs.get_schema("Identity").type_constraints
    for kind in each.allowed_type_strs
    if kind.startswith("tensor(")
)


@boundary
def for_torch_onnx(script: ScriptFunction) -> Callable[..., Any]:
    """The script as a function that `torch.onnx.export(custom_translation_table={…: …})` takes.

    What torch.onnx makes of it is a call of the ONNX function that the script is. torch.onnx records in opset 18 and
    converts to others afterwards, so a script for it is written with `opset18`.

    >>> import onnxsmith
    >>> from onnxsmith import FLOAT, opset18 as op, script
    >>> @script()
    ... def relu(x: FLOAT[...]) -> FLOAT[...]:
    ...     return op.Relu(x)
    >>> callable(onnxsmith.torch.for_torch_onnx(relu))
    True
    """
    if not isinstance(script, ScriptFunction):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise ExportError(
            f"for_torch_onnx takes a script, not {type(script).__name__}",
            help="decorate the function with @script",
        )
    try:
        evaluator: Any = importlib.import_module("onnxscript.evaluator")  # what torch.onnx records with
    except ImportError:
        raise MissingDependencyError(
            "torch.onnx.export needs onnxscript, which is not installed", help="pip install onnxscript"
        ).locate_at_caller() from None
    proto = script.to_function_proto()
    function = ir.from_proto(proto)
    schema = _schema(proto)
    attribute_names = [*proto.attribute, *(each.name for each in proto.attribute_proto)]

    parameters = list(script.signature.parameters)

    def translation(*args: Any, **kwargs: Any) -> Any:
        recorder: Any = evaluator.default()
        # torch.onnx does not say which operator it translates, so a name that the script does not have has no place.
        if len(args) > len(parameters) or not kwargs.keys() <= set(parameters[len(args) :]):
            raise ExportError(
                f"the script {proto.name} does not take what torch gives it: it has the parameters "
                f"{', '.join(parameters) or 'none'}",
                help="parameters of a script for torch.onnx are those of the operator, in the same order; "
                "what goes by name has the same name",
            )
        named: dict[str, Any] = {**dict(zip(parameters, args, strict=False)), **kwargs}
        # What is left out at the end has no place; an attribute that is left out has its default.
        inputs = [named.get(each) for each in proto.input]
        while inputs and inputs[-1] is None:
            inputs.pop()
        attributes = {
            name: named[name] for name in attribute_names if name in named and named[name] is not None
        }
        outputs = recorder.eval(schema, inputs, attributes)
        recorder.functions[function.identifier()] = function
        return outputs

    translation.__name__ = proto.name
    translation.__doc__ = proto.doc_string
    return translation


def _schema(proto: onnx.FunctionProto) -> Any:
    """The schema of the function; every input may have a type of its own."""
    ports = [f"T_{k}" for k in range(len(proto.input) + len(proto.output))]
    inputs = [OpSchema.FormalParameter(name, kind) for name, kind in zip(proto.input, ports, strict=False)]
    outputs = [
        OpSchema.FormalParameter(name, kind)
        for name, kind in zip(proto.output, ports[len(proto.input) :], strict=True)
    ]
    given = [
        OpSchema.Attribute(each.name, OpSchema.AttrType(int(each.type)), "", required=False)
        for each in proto.attribute_proto
    ]
    return OpSchema(
        proto.name,
        proto.domain,
        1,
        inputs=inputs,
        outputs=outputs,
        type_constraints=[(each, _TENSORS, "") for each in ports],
        attributes=[*given, *_required(proto)],
    )


def _required(proto: onnx.FunctionProto) -> list[Any]:
    """Attributes without a default; what kind they are, the nodes that refer to them say."""
    kinds = {
        attribute.ref_attr_name: attribute.type
        for node in proto.node
        for attribute in node.attribute
        if attribute.ref_attr_name
    }
    return [
        OpSchema.Attribute(name, OpSchema.AttrType(int(kinds.get(name, onnx.AttributeProto.FLOAT))), "")
        for name in proto.attribute
    ]
