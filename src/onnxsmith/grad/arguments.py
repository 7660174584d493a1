"""Arguments of `grad` and the like as arrays: of the element types that they have in a call of the function itself.

An array and most scalars of numpy have a type of their own. Numbers take the type that an input is declared with, or
that of the tensors that they meet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.errors import MixedDTypesError
from onnxsmith.graphs.model import Model
from onnxsmith.schema.promote import Place, given_array, is_literal
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.tracing.model_maker import MakesModels
from onnxsmith.tracing.trace import trace
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: Types of the arguments that are numbers, by position.
Numbers: TypeAlias = "dict[int, type]"
#: The element types that a model makes of arguments that are numbers, by position.
Casts: TypeAlias = "dict[int, tuple[DType, ...]]"


def numbers_among(function: Callable[..., Any], arguments: Sequence[UserValue]) -> Numbers:
    """The arguments that take the element types of what they meet: in code for numpy, Python's own numbers alone."""
    if isinstance(function, Model | ScriptDefinition):
        return {}  # their inputs are tensors
    is_number = _is_pythons if isinstance(function, MakesModels) else _is_number
    return {k: type(each) for k, each in enumerate(arguments) if is_number(each)}


def _is_pythons(value: UserValue) -> bool:
    return type(value) in (bool, int, float)


def _is_number(value: UserValue) -> bool:
    return is_literal(value) and not isinstance(value, list | tuple | str | bytes | complex)


def argument_array(function: Callable[..., Any], name: str, value: UserValue, place: Place) -> Array:
    """An argument of a function as an array."""
    if isinstance(function, MakesModels):
        return np.asarray(cast(Any, value))
    return typed_array(value, _declared(function, name), place)


def typed_array(value: UserValue, dtype: DType | None, place: Place) -> Array:
    """A value as an array: a number takes an element type, or has its own where that is open."""
    if isinstance(value, list | tuple) or not is_literal(value):
        return np.asarray(cast(Any, value))
    return given_array(value, dtype, place)


def _declared(function: Callable[..., Any], name: str) -> DType | None:
    """The element type that an input of a model or script is declared with."""
    if isinstance(function, Model):
        return next((dtype_of(each.type) for each in function.inputs if each.name == name), None)
    if isinstance(function, ScriptDefinition):
        return next((dtype_of(each.type) for each in function.parameters.inputs if each.name == name), None)
    return None


def dtype_of(kind: AnyValueType) -> DType | None:
    """The element type of a tensor, where it is known."""
    return kind.dtype if isinstance(kind, TensorType) else None


def traced(
    function: Callable[..., Any], kinds: Sequence[AnyValueType], numbers: Collection[int]
) -> tuple[Model, Casts]:
    """The model of a function on tensors, some arguments of which are numbers, and the types it makes of these."""
    try:
        return trace(function, *cast("Sequence[Any]", kinds)), {}
    except MixedDTypesError:
        if not numbers:
            raise

        # A number has met a tensor of another element type, which it takes in a call of the function itself.
        @functools.wraps(function)
        def with_numbers(*given: Any) -> Any:
            return function(*[each.as_number() if k in numbers else each for k, each in enumerate(given)])

        model = trace(with_numbers, *cast("Sequence[Any]", kinds))
        return model, _casts(model, numbers)


def _casts(model: Model, numbers: Collection[int]) -> Casts:
    """The element types of the tensors that inputs at some positions meet; a number becomes no integer by itself."""
    inputs = model.ir.graph.inputs
    found: Casts = {}
    for position in numbers:
        casts = [node for node in inputs[position].consumers() if node.op_type == "Cast" and not node.domain]
        types = [DType(node.attributes["to"].as_int()) for node in casts]
        found[position] = tuple(each for each in types if each.is_float)
    return found


def refuse_lost(arguments: Sequence[UserValue], casts: Casts, places: Sequence[Place]) -> None:
    """Refuse numbers that lose more than rounding as what the model makes of them, as operators refuse literals."""
    for position, dtypes in casts.items():
        for dtype in dtypes:
            given_array(arguments[position], dtype, places[position])
