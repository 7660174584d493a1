"""Parameters whose annotation allows several element types: a Union, or a TypeVar that others share.

Says which type a literal takes there, and refuses arguments of different types for one TypeVar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from onnxsmith.core.call import constant_like
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import NumberValue, TensorValue, Value
from onnxsmith.errors import DTypeNotAllowedError, InputTypeError, LiteralError, OnnxsmithError
from onnxsmith.schema.promote import Place, given_array, is_literal, literal_dtype
from onnxsmith.source import argument_span, caller_span
from onnxsmith.types.annotations import read_dtype
from onnxsmith.types.dtypes import DType, numpy_text
from onnxsmith.types.value_types import AnyValueType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition
    from onnxsmith.scripting.functions.signature import ScriptParameter

E = TypeVar("E", bound=OnnxsmithError)


def literal_type(parameter: ScriptParameter, kind: AnyValueType, value: UserValue) -> AnyValueType:
    """The type that an argument for a parameter has if it is a literal, as an operator of these types would take it."""
    if parameter.dtypes and isinstance(kind, TensorType) and is_literal(value):
        return TensorType(literal_dtype([value], parameter.dtypes), kind.shape)
    return kind


def with_typed_literals(script: ScriptDefinition, arguments: dict[str, UserValue]) -> dict[str, UserValue]:
    """The arguments, with literals that stand for a TypeVar in the element type that another argument gives it."""
    for group in script.parameters.same_dtype:
        given = {each.name: arguments.get(each.name) for each in group}
        like = next((each for each in given.values() if _is_typed(each)), None)
        dtype = _dtype_of(like)
        if like is None or (dtype is not None and group[0].dtypes and dtype not in group[0].dtypes):
            continue  # Python's own choice, or a type that is refused where it stands
        literals = {name: each for name, each in given.items() if _is_number(each)}
        if dtype is None:
            arguments = {**arguments, **{name: _as_like(each, like) for name, each in literals.items()}}
            continue
        for parameter in (each for each in group if each.name in literals):
            try:
                typed = _typed(literals[parameter.name], dtype, Place(script.name, f"'{parameter.name}'"))
            except (InputTypeError, LiteralError) as error:
                raise at_argument(error, script, parameter) from None
            arguments = {**arguments, parameter.name: typed}
    return arguments


def check_same_dtype(
    script: ScriptDefinition, group: Sequence[ScriptParameter], arguments: Mapping[str, Any]
) -> None:
    """Refuse arguments (arrays, tensors or types) of different element types for parameters of one TypeVar."""
    found = [(each, _dtype_of(arguments.get(each.name))) for each in group]
    known = [(each, dtype) for each, dtype in found if dtype is not None]
    for parameter, dtype in known[1:]:
        first, first_dtype = known[0]
        if dtype is not first_dtype:
            error = DTypeNotAllowedError(
                f"{script.name} takes tensors of one element type as '{first.name}' and '{parameter.name}', "
                f"not {first_dtype.spelling} and {dtype.spelling}",
                help="both are annotated with one TypeVar; "
                f"convert one of them with .astype({numpy_text(first_dtype)})",
            )
            raise at_argument(error, script, parameter)


def _is_number(value: UserValue) -> bool:
    return isinstance(value, NumberValue) or (value is not None and is_literal(value))


def _is_typed(value: UserValue) -> bool:
    """True for an array or a tensor: it has an element type, which a graph may not know yet."""
    return not _is_number(value) and (isinstance(value, TensorValue) or hasattr(value, "dtype"))


def _dtype_of(value: UserValue) -> DType | None:
    """The element type of an array, a tensor or a type; None where it is not known, and for all else."""
    if isinstance(value, Value):
        value = cast(UserValue, value.known.type)
    return read_dtype(getattr(value, "dtype", None))


def _typed(value: UserValue, dtype: DType, place: Place) -> UserValue:
    if isinstance(value, NumberValue):
        given_array(value.sample, dtype, place)  # refuses what a literal of this kind would be refused for
        return value.as_dtype(dtype)
    return given_array(value, dtype, place)


def _as_like(value: UserValue, like: UserValue) -> UserValue:
    """A literal in the element type of a tensor of a graph, which is not known yet."""
    if isinstance(value, NumberValue):
        return value.as_like(cast(TensorValue, like))
    return constant_like(current_graph(), np.asarray(value), cast(TensorValue, like))


def at_argument(error: E, script: ScriptDefinition, parameter: ScriptParameter) -> E:
    """The error at the argument that the user gives for a parameter, and at the parameter's definition."""
    position = [each.name for each in script.parameters.parameters if each.role != "self"].index(
        parameter.name
    )
    call = caller_span()
    argument = None if call is None else argument_span(call, parameter.name) or argument_span(call, position)
    return error.locate(argument or call).also(script.places.parameter(parameter.name), "declared here")
