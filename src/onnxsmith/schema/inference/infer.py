"""The one entry point: which rule answers for a call.

Holds no rule itself; `rules/` does, one file per family of operators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxsmith.errors import InferenceError
from onnxsmith.schema.definition import AttributeType, OperatorDef, parameter_at
from onnxsmith.schema.inference.call import (
    Call,
    Result,
    UnresolvedAttribute,
    find_rule,
    small_content,
)
from onnxsmith.schema.inference.known import NOTHING, BodyOutputs, Known
from onnxsmith.schema.inference.protobuf import make_attribute, make_tensor, make_type, read_type
from onnxsmith.schema.inference.signature import (
    bind_type_variables,
    outputs_by_signature,
    without_shape,
)
from onnxsmith.types.value_types import (
    AnyValueType,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    describe_shape,
    parse_onnx_type,
)

if TYPE_CHECKING:
    import onnx
    from onnx.defs import OpSchema

_NO_BODIES: Mapping[str, BodyOutputs] = MappingProxyType({})

_LARGEST_SIZE = 2**63 - 1


def infer(
    op: OperatorDef,
    version: int,
    inputs: Sequence[Known | None],
    attributes: Mapping[str, Any],
    output_count: int,
    bodies: Mapping[str, BodyOutputs] = _NO_BODIES,
) -> tuple[Known, ...]:
    """Infer the types, and where possible the contents, of the `output_count` outputs of one call.

    `version` is the opset version that the call is made in. A None input is an optional one left out. `attributes`
    are Python values (arrays for tensors), without graphs: what is known of the outputs of those stands in `bodies`.

    Raises ShapeError, TensorIndexError, AttributeValueError or InferenceError where the call certainly cannot work.
    """
    answer = (find_rule(op) or infer_by_onnx) if op.is_known else _know_nothing
    call = Call(op, version, inputs, attributes, output_count, bodies)
    try:
        result = answer(call)
    except UnresolvedAttribute:
        result = outputs_by_signature(op, inputs, output_count)
    if result is None:
        result = infer_by_onnx(call)
    _check_sizes(call, result)
    if len(result) == output_count:
        return result
    if len(result) > output_count:
        return result[:output_count]
    return (*result, *outputs_by_signature(op, inputs, output_count)[len(result) :])


def _check_sizes(call: Call, result: Sequence[Known]) -> None:
    """Raise for an output that no tensor can be: of a negative size, or of one that no model can say."""
    for position, known in enumerate(result):
        kind = known.type
        if isinstance(kind, TensorType) and kind.shape:
            for size in kind.shape:
                if isinstance(size, int) and not 0 <= size <= _LARGEST_SIZE:
                    parameter = parameter_at(call.op.outputs, position)
                    name = f"output {position}" if parameter is None else parameter.name
                    shape = describe_shape(kind.shape)
                    raise call.shape_error(f"cannot give {name} of shape {shape}: no tensor has it")


def _know_nothing(call: Call) -> Result:
    return (NOTHING,) * call.output_count


# -- fallback --------------------------------------------------------------------------------------------------
# Inference by onnx's own function for one node, for every operator without a rule here.
#
# Slower than a rule (tens of microseconds, most of it protobuf) and blind to symbolic contents; complete.


def infer_by_onnx(call: Call) -> tuple[Known, ...]:
    """The outputs of one node as onnx infers them.

    Raises InferenceError where onnx says that the call cannot be right.
    """
    op = call.op
    by_signature = outputs_by_signature(op, call.inputs, call.output_count)
    schema = _onnx_schema(op)
    if schema is None:
        return by_signature
    import onnx.checker  # heavy
    from onnx import shape_inference

    node, types, data, stood_in = _describe(call)
    try:
        for name, value in call.attributes.items():
            given = np.asarray(value) if getattr(value, "is_stored", False) else value
            node.attribute.append(make_attribute(name, given, op.attributes[name].type))
    except (TypeError, ValueError, KeyError):  # a value that comes only with each call of a function
        return by_signature
    is_open = _has_open_dimension(call.inputs)
    try:
        opset = onnx.helper.make_opsetid(op.domain, call.version)
        inferred = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=[opset])
    except shape_inference.InferenceError as error:
        if is_open:
            # Some of onnx's functions read a symbolic dimension as 0, so that this need not be a mistake.
            return by_signature
        raise InferenceError(f"{op.qualified_name}: {_reason(str(error))}") from None
    except (onnx.checker.ValidationError, RuntimeError, ValueError, IndexError, TypeError):
        # Not a verdict on the call but a gap in onnx, or an element type that only stands for an unknown one.
        return by_signature
    result: list[Known] = []
    for position, known in enumerate(by_signature):
        found = inferred.get(f"o{position}")
        if found is None or not found.WhichOneof("value"):
            result.append(known)
            continue
        parameter = parameter_at(op.outputs, position)
        value_type = _without_zeros(read_type(found)) if is_open else read_type(found)
        is_guessed = parameter is not None and parameter.type_name in stood_in
        result.append(Known(_open_dtype(value_type) if is_guessed else _sharpen(value_type, known.type)))
    return tuple(result)


def _describe(
    call: Call,
) -> tuple[onnx.NodeProto, dict[str, onnx.TypeProto], dict[str, onnx.TensorProto], set[str]]:
    """The node without attributes, types and constants by name, and the type variables whose type is a stand-in."""
    import onnx  # heavy

    node = onnx.NodeProto(op_type=call.op.name, domain=call.op.domain)
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    stood_in: set[str] = set()
    bound = bind_type_variables(call.op, call.inputs)
    for position, known in enumerate(call.inputs):
        name = f"i{position}" if known is not None else ""
        node.input.append(name)
        if known is None:
            continue
        value_type = known.type
        if not value_type.onnx_name:
            variable, value_type = _stand_in(call.op, position, value_type, bound)
            stood_in |= {variable} if variable is not None else set()
        types[name] = make_type(value_type)
        array = small_content(known)
        if array is not None and known.type.onnx_name:
            data[name] = make_tensor(array)
    node.output.extend(f"o{position}" for position in range(call.output_count))
    return node, types, data, stood_in


@lru_cache(maxsize=4096)
def _onnx_schema(op: OperatorDef) -> OpSchema | None:
    """The schema, where onnx has one and can infer by it: what bodies give is not known to it here."""
    from onnx import defs  # heavy

    if any(each.type in (AttributeType.GRAPH, AttributeType.GRAPHS) for each in op.attributes.values()):
        return None
    try:
        return defs.get_schema(op.name, op.since_version, op.domain)
    except defs.SchemaError:
        return None


def _stand_in(
    op: OperatorDef, position: int, value_type: AnyValueType, bound: Mapping[str, AnyValueType]
) -> tuple[str | None, AnyValueType]:
    """A type for an input of unknown element type: that of its type variable, else any that is allowed."""
    parameter = parameter_at(op.inputs, position)
    if parameter is None:
        return None, value_type
    shape = value_type.shape if isinstance(value_type, TensorType) else None
    other = bound.get(parameter.type_name)
    if other is not None:
        return None, TensorType(other.dtype, shape) if isinstance(other, TensorType) else other
    allowed = sorted(parameter.types, key=lambda name: (name != "tensor(float)", name))
    for name in allowed:
        candidate = parse_onnx_type(name)
        if type(candidate) is type(value_type):
            variable = parameter.type_name if len(allowed) > 1 else None
            if isinstance(candidate, TensorType):
                return variable, TensorType(candidate.dtype, shape)
            if candidate is not None:
                return variable, candidate
    return None, value_type


def _open_dtype(value_type: AnyValueType) -> AnyValueType:
    if isinstance(value_type, TensorType):
        return TensorType(None, value_type.shape)
    if isinstance(value_type, SequenceType):
        return SequenceType(_open_dtype(value_type.element))
    if isinstance(value_type, OptionalType):
        element = _open_dtype(value_type.element)
        return OptionalType(element) if isinstance(element, TensorType | SequenceType) else value_type
    return MapType(value_type.key, TensorType(None, value_type.value.shape))


def _has_open_dimension(inputs: Sequence[Known | None]) -> bool:
    for known in inputs:
        shape = known.type.shape if known is not None and isinstance(known.type, TensorType) else ()
        if shape is None or not all(isinstance(each, int) for each in shape):
            return True
    return False


def _without_zeros(value_type: AnyValueType) -> AnyValueType:
    """Sizes of 0 left open: they may come of a symbolic dimension that was read as 0."""
    if not isinstance(value_type, TensorType) or value_type.shape is None or 0 not in value_type.shape:
        return value_type
    return TensorType(value_type.dtype, tuple(None if each == 0 else each for each in value_type.shape))


def _sharpen(inferred: AnyValueType, signature: AnyValueType) -> AnyValueType:
    """Fill in an open element type from the signature."""
    if inferred.onnx_name or not signature.onnx_name:
        return inferred
    if isinstance(inferred, TensorType) and isinstance(signature, TensorType):
        return TensorType(signature.dtype, inferred.shape)
    return without_shape(signature)


_TAG = re.compile(r"\[\w*(?:Error|Exception)\]\s*")
_PLACE = re.compile(r"^\(op_type:[^)]*\):\s*")


def _reason(text: str) -> str:
    """The message of onnx, without the places in its own code."""
    lines = _TAG.sub("", text).strip().splitlines()
    reason = _PLACE.sub("", lines[0] if lines else "").strip().rstrip(".")
    return reason or "the call is not valid"
