"""Output types as far as an operator's signature alone gives them: fixed types and type variables.

Knows nothing of shapes; it serves operators that have no inference of their own, and fills what that leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnxsmith.schema.definition import OperatorDef, Parameter, parameter_at
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    parse_onnx_type,
)


def bind_type_variables(op: OperatorDef, inputs: Sequence[Known | None]) -> dict[str, AnyValueType]:
    """Each type variable that an input of known element type decides, with the type stripped of shapes."""
    bound: dict[str, AnyValueType] = {}
    for position, known in enumerate(inputs):
        parameter = parameter_at(op.inputs, position)
        if known is None or parameter is None or not parameter.is_homogeneous or parameter.type_name in bound:
            continue
        if known.type.onnx_name:
            bound[parameter.type_name] = without_shape(known.type)
    return bound


def without_shape(value_type: AnyValueType) -> AnyValueType:
    """The same type with every shape left open."""
    if isinstance(value_type, TensorType):
        return TensorType(value_type.dtype, None)
    if isinstance(value_type, SequenceType):
        return SequenceType(without_shape(value_type.element))
    if isinstance(value_type, OptionalType):
        element = without_shape(value_type.element)
        return OptionalType(element) if isinstance(element, TensorType | SequenceType) else value_type
    return MapType(value_type.key, TensorType(value_type.value.dtype, None))


def outputs_by_signature(
    op: OperatorDef, inputs: Sequence[Known | None], output_count: int
) -> tuple[Known, ...]:
    """The types of outputs by the signature alone."""
    bound = bind_type_variables(op, inputs)
    return tuple(_output(parameter_at(op.outputs, position), bound) for position in range(output_count))


def _output(parameter: Parameter | None, bound: Mapping[str, AnyValueType]) -> Known:
    if parameter is None:
        return NOTHING
    if parameter.is_homogeneous and parameter.type_name in bound:
        return Known(bound[parameter.type_name])
    return Known(_common_type(parameter))


def _common_type(parameter: Parameter) -> AnyValueType:
    """The one type a parameter allows, or the kind that all its types share."""
    if len(parameter.types) == 1:
        return parse_onnx_type(next(iter(parameter.types))) or UNKNOWN_TENSOR
    kinds = {name.partition("(")[0] for name in parameter.types}
    if kinds == {"seq"}:
        return SequenceType(UNKNOWN_TENSOR)
    if kinds == {"optional"}:
        return OptionalType(UNKNOWN_TENSOR)
    return UNKNOWN_TENSOR
