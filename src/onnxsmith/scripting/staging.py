"""Stages a whole script: as the body of an ONNX function, or as a model.

A function's body is generic where its annotations leave types open; a model is typed, and its attributes have values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import onnx_ir as ir

from onnxsmith.core.semantics.number import NumberKind, kind_of
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import MissingReturnError, OpsetConflictError, ReturnTypeError
from onnxsmith.graphs.attributes import typed_attribute
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.function import FunctionBody
from onnxsmith.graphs.ir_types import shape_to_ir, tensor_type_to_ir
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.value import wrap
from onnxsmith.schema.default_version import default_opset_version
from onnxsmith.schema.inference.known import Known
from onnxsmith.scripting.attribute_values import attribute_value
from onnxsmith.scripting.closures import closure_of, run_staged
from onnxsmith.scripting.eager_call import input_argument
from onnxsmith.scripting.location import located
from onnxsmith.scripting.merge import NUMBER_DTYPES, RESULT_NAME, number_as
from onnxsmith.scripting.mistakes import Mistakes
from onnxsmith.scripting.stager import stage_frame
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.function import ScriptFunction
    from onnxsmith.scripting.signature import ScriptParameter


@dataclass(frozen=True, slots=True)
class Staged:
    """A staged script: its graph is open until someone finishes it."""

    scope: GraphTarget
    outputs: list[Any]
    #: Which outputs are Python numbers to whoever calls the script.
    numbers: tuple[NumberKind | None, ...]
    #: Whether the script returned a tuple, so that one output in a tuple stays one.
    is_tuple: bool


def stage(
    script: ScriptFunction,
    kind: Literal["model", "function"],
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    *,
    opset_version: int | None = None,
    shared: dict[Any, Any] | None = None,
) -> Staged:
    """Stage a script on inputs of these types (None: left out); attributes not given stay references.

    `shared` holds the functions that were made for the same model before.
    """
    if opset_version is not None:
        return _stage(script, kind, types, attributes, OpsetVersions(opset_version, is_fixed=True), shared)
    named = script.named_opset_version
    version = named or default_opset_version()
    opsets = OpsetVersions(version, is_named=named is not None)
    try:
        return _stage(script, kind, types, attributes, opsets, shared)
    except OpsetConflictError as error:
        # An object that the code holds may name an older opset than could be seen in the code itself.
        if error.named_version is None or error.named_version == version:
            raise
        try:
            return _stage(script, kind, types, attributes, OpsetVersions(error.named_version), shared)
        except OpsetConflictError:
            raise error from None


def _stage(
    script: ScriptFunction,
    kind: Literal["model", "function"],
    types: Mapping[str, AnyValueType | None],
    attributes: Mapping[str, Any],
    opsets: OpsetVersions,
    shared: dict[Any, Any] | None,
) -> Staged:
    scope = GraphTarget(Program(kind, opsets, shared, is_exact=script.is_exact))
    arguments = dict(script.fixed_arguments)
    for parameter in script.parameters.inputs:
        if parameter.name in types:
            given = types[parameter.name]
            arguments[parameter.name] = (
                None if given is None else scope.input(parameter.name, given, script.definition)
            )
        else:
            arguments[parameter.name] = _default(script, parameter, scope)
    for parameter in script.parameters.attributes:
        if parameter.name in attributes:
            value = attributes[parameter.name]
            arguments[parameter.name] = value if value is None else parameter.attribute_value(value)
        else:
            arguments[parameter.name] = attribute_value(parameter)
    token = ACTIVE.set(scope)
    try:
        result = run_staged(
            script.analysis,
            script.function.__globals__,
            closure_of(script.function),
            script.completed(arguments),
            mistakes=Mistakes(script.known_mistakes),
            run=stage_frame,
        )
        with located(script.places.returned):
            if isinstance(result, list) and script.returns_sequence:
                result = scope.sequence(cast("list[Any]", result))
            values = list(cast("Sequence[Any]", result)) if isinstance(result, tuple | list) else [result]
            outputs = _outputs(script, scope, values)
    finally:
        ACTIVE.reset(token)
    is_annotated = script.parameters.returns is not None
    numbers: tuple[NumberKind | None, ...] = tuple(None if is_annotated else kind_of(each) for each in values)
    return Staged(scope, outputs, numbers, isinstance(result, tuple | list))


def _default(script: ScriptFunction, parameter: ScriptParameter, scope: GraphTarget) -> Any:
    """The default of an input that nobody gives: a tensor of the annotated element type, as in an eager run."""
    kind = parameter.type.element if isinstance(parameter.type, OptionalType) else parameter.type
    is_typed = isinstance(kind, TensorType) and kind.dtype is not None
    if parameter.default is None or not is_typed:
        return parameter.default
    return scope.lift(input_argument(script, parameter, parameter.default))


def _outputs(script: ScriptFunction, scope: GraphTarget, values: Sequence[Any]) -> list[Any]:
    """What a script returns as outputs of its graph; one that is an input, or comes twice, gets an Identity."""
    returns = script.parameters.returns
    if returns is not None and len(returns) != len(values):
        count = f"{len(values)} value{'s' * (len(values) != 1)}"
        error = ReturnTypeError(
            f"'{script.name}' returns {count}, and its annotation says {len(returns)}",
            help="for several results, annotate a tuple: -> tuple[FLOAT[...], INT64[...]]",
        )
        raise error.locate(script.places.returned).also(script.places.annotation("return"), "annotated here")
    outputs: list[Any] = []
    seen: set[int] = set()
    for position, value in enumerate(values):
        tensor = _as_output(script, scope, value, None if returns is None else returns[position])
        if script.is_exact:
            outputs.append(tensor)
            continue
        if returns is not None:
            _check_result(script, position, tensor.known.type, returns[position])
        if tensor.ir_value.producer() is None or tensor.scope is not scope or id(tensor.ir_value) in seen:
            tensor = scope.operators.Identity(tensor)
        seen.add(id(tensor.ir_value))
        outputs.append(tensor if returns is None else _refined(scope, tensor, returns[position]))
    return outputs


def _as_output(script: ScriptFunction, scope: GraphTarget, value: Any, annotated: AnyValueType | None) -> Any:
    """A result as a tensor; a Python number takes the annotated element type, or else INT64, FLOAT or BOOL."""
    if value is None or isinstance(value, dict | set):
        what = "nothing" if value is None else f"a {type(cast(object, value)).__name__}"
        raise MissingReturnError(
            f"'{script.name}' returns {what}",
            help="return the tensors that are the outputs, as a tuple if several",
        )
    if isinstance(value, tuple):
        raise ReturnTypeError(
            f"'{script.name}' returns a tuple inside a tuple, and the outputs of a model are in a row",
            help="unpack it: return a, *pair",
        )
    kind = kind_of(value)
    if kind is None:
        is_symbolic = isinstance(value, Value) and value.is_symbolic
        return getattr(value, "tensor", value) if is_symbolic else scope.lift(value)
    if isinstance(annotated, TensorType) and annotated.dtype is not None:
        return number_as(scope, value, annotated.dtype, RESULT_NAME, ReturnTypeError)
    return number_as(
        scope, value, DType.FLOAT if kind == "float" else NUMBER_DTYPES[kind], RESULT_NAME, ReturnTypeError
    )


def _check_result(
    script: ScriptFunction, position: int, actual: AnyValueType, annotated: AnyValueType
) -> None:
    """Refuse what certainly differs from the annotation."""
    differs = type(actual) is not type(annotated)
    if isinstance(actual, TensorType) and isinstance(annotated, TensorType):
        differs = (
            actual.dtype is not None and annotated.dtype is not None and actual.dtype is not annotated.dtype
        )
        if not differs and actual.shape is not None and annotated.shape is not None:
            differs = len(actual.shape) != len(annotated.shape) or any(
                isinstance(a, int) and isinstance(b, int) and a != b
                for a, b in zip(actual.shape, annotated.shape, strict=True)
            )
    if differs:
        which = "returns" if position == 0 else f"returns as value {position}"
        error = ReturnTypeError(
            f"'{script.name}' {which} {actual.described}, but its annotation says {annotated!r}",
            help=f"change the annotation to {actual!r}, or convert the result",
        )
        raise error.locate(script.places.returned).also(script.places.annotation("return"), "annotated here")


def _refined(scope: GraphTarget, tensor: Any, annotated: AnyValueType) -> Any:
    """An output with the dimensions that its annotation adds to what is known."""
    actual = tensor.known.type
    if not isinstance(actual, TensorType) or not isinstance(annotated, TensorType):
        return tensor
    dtype = actual.dtype or annotated.dtype
    shape = actual.shape
    if annotated.shape is not None:
        shape = (
            annotated.shape
            if shape is None
            else tuple(
                b if a is None or (isinstance(b, str) and not isinstance(a, int)) else a
                for a, b in zip(shape, annotated.shape, strict=True)
            )
        )
    if dtype is not None:
        tensor.ir_value.type = tensor_type_to_ir(dtype)
    tensor.ir_value.shape = shape_to_ir(shape)
    return wrap(tensor.ir_value, Known(TensorType(dtype, shape)), scope, tensor.span)


def make_body(script: ScriptFunction, staged: Staged, name: str, bound: Sequence[str] = ()) -> FunctionBody:
    """The ONNX function of a staged script; attributes in `bound` have their values inside already."""
    scope = staged.scope
    graph = scope.finish(staged.outputs, name)
    formal = [each for each in script.parameters.attributes if each.name not in bound]
    attributes = [_formal_attribute(each) for each in formal]
    function = ir.Function(script.domain, name, script.overload, graph=graph, attributes=attributes)
    program = scope.program
    weights = tuple((value.name or "", tensor) for value, tensor in program.hidden_inputs)
    return FunctionBody(function, dict(program.functions), program.opsets, weights, frozenset(program.dtypes))


def _formal_attribute(parameter: Any) -> ir.Attr:
    kind = parameter.attribute_type
    if not parameter.has_default or parameter.default is None:
        return ir.Attr(parameter.name, ir.AttributeType(int(kind)), None)
    value = parameter.attribute_value(parameter.default)
    if isinstance(value, list):
        value = tuple(cast("list[Any]", value))
    return typed_attribute(kind, parameter.name, int(value) if isinstance(value, bool) else value)
