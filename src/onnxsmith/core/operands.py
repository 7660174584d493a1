"""The facts that are known of an operand now: element type, shape, content, and the operators that work on it.

Reads facts off tensors, arrays and literals; calls no operator. Arrays that compute as numpy does are known by what
they can be asked, not by their class: their namespace stands above.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeGuard, TypeVar, cast, overload

import numpy as np

from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import target_of
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, NumberValue, Operand, TensorValue, Value
from onnxsmith.errors import AttributeTypeError, AttributeValueError, UnknownRankError
from onnxsmith.schema.foreign_arrays import array_on_device
from onnxsmith.schema.inference.known import Data
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, Shape, TensorType

if TYPE_CHECKING:
    from typing_extensions import TypeIs


T = TypeVar("T")

#: Axes as numpy's methods take them.
Axes: TypeAlias = SupportsIndex | list[Any] | tuple[SupportsIndex, ...] | None


def operators_for(*values: Operand | None) -> StandardOperators:
    """The operators that Python's syntax on these values is made of."""
    return target_of(values).operators


def is_array(value: object) -> TypeIs[Array]:
    """True if a value is a numpy array."""
    return isinstance(value, np.ndarray)


def are_arrays(values: Sequence[object]) -> TypeGuard[Sequence[Array]]:
    """True if all values are numpy arrays."""
    return all(isinstance(each, np.ndarray) for each in values)


def dtype_of(*values: Operand | None) -> DType | None:
    """The element type that an operation on these values has, or None when it is not known yet.

    Literals, and numbers that only the model knows, have none of their own.
    """
    for value in values:
        if isinstance(value, NumberValue):
            continue
        if isinstance(value, TensorValue) and not value.is_symbolic:
            if (dtype := value.dtype) is not None:
                return dtype
        elif isinstance(value, Value | Stored):
            kind = value.known.type
            if isinstance(kind, TensorType) and kind.dtype is not None:
                return kind.dtype
        elif is_array(value):
            return DType.from_numpy(value.dtype)
    return None


def shape_of(value: Operand) -> Shape | None:
    """The dimensions of a tensor or array: sizes, names, None for an unknown one; None when the rank is unknown."""
    if isinstance(value, Value | Stored):
        kind = value.known.type
        return kind.shape if isinstance(kind, TensorType) else None
    try:
        return np.shape(cast(Any, value))  # numpy's own type for this does not nest
    except ValueError:
        return None  # lists of several lengths, which the operator refuses


def static_shape(value: Operand) -> tuple[int, ...] | None:
    """The shape, when all of it is known now."""
    shape = shape_of(value)
    return shape if shape is not None and is_static(shape) else None


@overload
def is_static(shape: tuple[object, ...]) -> TypeGuard[tuple[int, ...]]: ...
@overload
def is_static(shape: Sequence[object]) -> TypeGuard[Sequence[int]]: ...
def is_static(shape: Sequence[object]) -> bool:
    """True if every dimension is a number."""
    return all(isinstance(each, int) for each in shape)


def rank_of(value: Operand) -> int | None:
    """How many dimensions, or None."""
    shape = shape_of(value)
    return None if shape is None else len(shape)


def needed_rank(value: Operand, purpose: str) -> int:
    """How many dimensions; UnknownRankError says that `purpose` needs them."""
    rank = rank_of(value)
    if rank is None:
        raise UnknownRankError(
            f"{purpose} needs the number of dimensions, and this tensor's is not known when the graph is made",
            help='annotate the shape, as in FLOAT["N", "M"]',
        )
    return rank


def as_tensor(value: T) -> T | TensorValue:
    """A number that only the model knows as the scalar tensor that it is, and what is there of an optional.

    Anything else as it is.
    """
    if isinstance(value, NumberValue):
        kind = value.known.type
        assert isinstance(kind, TensorType)
        assert kind.dtype is not None
        return value.as_dtype(kind.dtype)
    if isinstance(value, Value) and isinstance(value.known.type, OptionalType):
        return operators_for(value).OptionalGetElement(value)
    return value


def data_of(value: Operand) -> Data:
    """The content as far as it is known now; names stand for what the model decides."""
    if isinstance(value, Value):
        if value.is_symbolic:
            return value.known.data
        on_device = array_on_device(value)
        if on_device is not None:
            # A single number is worth a copy: what reads it wants a number. Of more, nothing is known here.
            return on_device.numpy() if on_device.size == 1 else None
    return np.asarray(cast(Any, value))


def content_of(value: Operand) -> Array | None:
    """The elements, when all of them are known now."""
    data = data_of(value)
    if data is None or isinstance(data, str):
        return None
    if isinstance(data, tuple):
        return np.array(data, np.int64) if all(isinstance(each, int) for each in data) else None
    return data if is_array(data) else np.array(data, np.int64)


def read_axis(axis: SupportsIndex, rank: int) -> int:
    """An axis counted from the front, or an error that says what may stand there."""
    number = _read_integer(axis)
    if not -rank <= number < rank:
        if rank == 0:
            raise AttributeValueError(f"axis={number} is out of range: a scalar has no axes")
        raise AttributeValueError(
            f"axis={number} is out of range for a tensor of {rank} dimension{'s' * (rank > 1)}",
            help=f"an axis is from {-rank} to {rank - 1}",
        )
    return number % rank


def read_axes(axis: Axes, value: Operand, purpose: str) -> tuple[int, ...] | None:
    """Axes from None, an int or several; None stays None. Counted from the front where the rank is known.

    Raises UnknownRankError when several axes of a tensor of unknown rank are counted from both ends.
    """
    if axis is None:
        return None
    given = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    rank = rank_of(value)
    if rank is None:
        numbers = tuple(_read_integer(each) for each in given)
        if len({each < 0 for each in numbers}) > 1:
            needed_rank(value, purpose)
    else:
        numbers = tuple(read_axis(each, rank) for each in given)
    if len(set(numbers)) < len(numbers):
        raise AttributeValueError(f"axis={axis!r} names an axis twice")
    return numbers


def _read_integer(axis: SupportsIndex) -> int:
    try:
        number = None if isinstance(axis, bool) else int(operator.index(axis))
    except TypeError:
        number = None
    if number is None:
        raise AttributeTypeError(f"axis is an int, not {axis!r}")
    return number


#: What a number or an array of numpy's, or a tensor, is where a function of numpy code is staged: an array that
#: computes as numpy does. Elsewhere it is None, and such a number is a literal.
NUMPYS_NUMBER: ContextVar[Callable[[np.generic | np.ndarray | Value], object] | None] = ContextVar(
    "onnxsmith_numpys_number", default=None
)


def in_numpy_code(value: object) -> object:
    """The value as numpy code sees it: there, numbers and arrays of numpy's are arrays that compute as numpy does.

    So they are in control flow of the model, and beside a number that only the model knows. Both forms count: numpy
    itself makes an array of a number that it compares with an object.
    """
    if not isinstance(value, np.generic | np.ndarray):
        return value
    make, given = NUMPYS_NUMBER.get(), cast("np.generic | np.ndarray", value)
    return given if make is None else make(given)


def has_numpys_meaning(value: object) -> bool:
    """True if a value is an array of another namespace, with operators of its own."""
    return hasattr(value, "__array_namespace__") and not isinstance(value, np.ndarray | np.generic)


def holds_tensor(value: object) -> bool:
    """True if a value is an array that computes as numpy does, and holds a tensor of ours."""
    return not isinstance(value, Value) and has_numpys_meaning(value) and hasattr(type(value), "tensor")


def tensors_of_arrays(result: UserValue) -> UserValue:
    """The result of a function, with the tensors that arrays hold in their place: outputs are tensors."""
    if isinstance(result, tuple):
        return tuple(tensors_of_arrays(each) for each in result)
    if isinstance(result, list):
        return [tensors_of_arrays(each) for each in result] if any(map(holds_tensor, result)) else result
    return cast(Value, getattr(result, "tensor")) if holds_tensor(result) else result  # noqa: B009  # of no class here
