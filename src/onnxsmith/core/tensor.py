"""The tensor that user code holds: Python's operators, indexing and numpy's methods, for both kinds of tensor.

Each method is one line: the meanings stand in `arithmetic`, `bits`, `indexing`, `methods`, `reductions` and
`conversions`, written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from onnxsmith.core.semantics import (
    arithmetic,
    bits,
    conversions,
    dimensions,
    indexing,
    methods,
    numpy_calls,
    reductions,
)
from onnxsmith.core.semantics.updates import Updates
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

F = TypeVar("F", bound=Callable[..., Any])


def _guarded(function: F) -> F:
    """Errors that leave a method point at the user's expression, without our frames."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    method.__name__, method.__doc__, method.__wrapped__ = function.__name__, function.__doc__, function  # type: ignore[attr-defined]
    return method  # type: ignore[return-value]


def _binary(meaning: Callable[[Any, Any], Any]) -> Any:
    def operator(self: Tensor, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        try:
            return meaning(self, other)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    operator.__doc__ = meaning.__doc__
    return operator


def _reflected(meaning: Callable[[Any, Any], Any]) -> Any:
    return _binary(lambda self, other: meaning(other, self))


def _unary(meaning: Callable[[Any], Any]) -> Any:
    return _guarded(lambda self: meaning(self))  # type: ignore[misc]


def _is_operand(other: Any) -> bool:
    return isinstance(other, Value | bool | int | float | complex | str | list | tuple) or hasattr(
        other, "dtype"
    )


class Tensor(Value):
    """A tensor: running (an array behind it) or symbolic (a value of a graph being made).

    >>> import numpy as np, onnxsmith
    >>> x = onnxsmith.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> x[:, ::-1] * 2
    tensor([[ 4.,  2.,  0.],
            [10.,  8.,  6.]], dtype=float32)
    """

    # What was made of it before, such as its dimensions; see `memory`. Unset until it is first needed.
    __slots__ = ("_memory",)

    __hash__ = object.__hash__

    __add__, __radd__ = _binary(arithmetic.add), _reflected(arithmetic.add)
    __sub__, __rsub__ = _binary(arithmetic.subtract), _reflected(arithmetic.subtract)
    __mul__, __rmul__ = _binary(arithmetic.multiply), _reflected(arithmetic.multiply)
    __truediv__, __rtruediv__ = _binary(arithmetic.divide), _reflected(arithmetic.divide)
    __floordiv__, __rfloordiv__ = _binary(arithmetic.floor_divide), _reflected(arithmetic.floor_divide)
    __mod__, __rmod__ = _binary(arithmetic.remainder), _reflected(arithmetic.remainder)
    __pow__, __rpow__ = _binary(arithmetic.power), _reflected(arithmetic.power)
    __divmod__, __rdivmod__ = (
        _binary(arithmetic.divide_with_remainder),
        _reflected(arithmetic.divide_with_remainder),
    )
    __matmul__, __rmatmul__ = _binary(arithmetic.matmul), _reflected(arithmetic.matmul)
    __and__, __rand__ = _binary(bits.bitwise_and), _reflected(bits.bitwise_and)
    __or__, __ror__ = _binary(bits.bitwise_or), _reflected(bits.bitwise_or)
    __xor__, __rxor__ = _binary(bits.bitwise_xor), _reflected(bits.bitwise_xor)
    __lshift__, __rlshift__ = _binary(bits.shift_left), _reflected(bits.shift_left)
    __rshift__, __rrshift__ = _binary(bits.shift_right), _reflected(bits.shift_right)
    __eq__ = _binary(arithmetic.equal)
    __ne__ = _binary(arithmetic.not_equal)
    __lt__ = _binary(arithmetic.less)
    __le__ = _binary(arithmetic.less_equal)
    __gt__ = _binary(arithmetic.greater)
    __ge__ = _binary(arithmetic.greater_equal)
    __neg__ = _unary(arithmetic.negate)
    __invert__ = _unary(bits.invert)
    __abs__ = _unary(arithmetic.absolute)

    # numpy hands over here: array + tensor is the tensor's own addition, not an array of tensors.
    @_guarded
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_calls.universal_function(ufunc, method, inputs, kwargs)

    @_guarded
    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_calls.array_function(function, args, kwargs)

    @_guarded
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        numpy_calls.refuse_conversion(self)

    def __pos__(self) -> Tensor:
        return self

    @_guarded
    def __round__(self, digits: int | None = None) -> Tensor:
        return arithmetic.round_half_even(self, digits)

    def memory(self) -> dict[Any, Any]:
        """What was computed from this tensor and may be used again, under keys of whoever computed it."""
        try:
            return self._memory
        except AttributeError:
            self._memory: dict[Any, Any] = {}
            return self._memory

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def type(self) -> TensorType:
        """Element type and shape, as far as they are known."""
        kind = self.known.type
        assert isinstance(kind, TensorType)  # whoever makes a Tensor has checked it
        return kind

    @property
    def dtype(self) -> DType | None:
        """The element type; None where a generic parameter leaves it open."""
        return self.type.dtype

    @property
    @_guarded
    def ndim(self) -> int:
        """How many dimensions it has."""
        return methods.rank(self)

    @property
    @_guarded
    def shape(self) -> tuple[Any, ...]:
        """Its dimensions: ints where they are known, scalar tensors where the model decides."""
        return dimensions.shape(self)

    @property
    @_guarded
    def size(self) -> Any:
        """How many elements it has."""
        return methods.size(self)

    @property
    @_guarded
    def T(self) -> Tensor:
        """All dimensions in reverse order."""
        return methods.transpose(self)

    # -- parts of it -----------------------------------------------------------------------------------

    @_guarded
    def __getitem__(self, index: Any) -> Tensor:
        return indexing.get(self, index)

    @property
    def at(self) -> Updates:
        """Functional updates: `x.at[i].set(v)` is a new tensor."""
        return Updates(self)

    @_guarded
    def __setitem__(self, index: Any, value: Any) -> None:
        indexing.refuse_assignment()

    @_guarded
    def __len__(self) -> int:
        return conversions.length(self)

    @_guarded
    def __iter__(self) -> Iterator[Tensor]:
        return conversions.iterate(self)

    @_guarded
    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    # -- numpy's methods -------------------------------------------------------------------------------

    @_guarded
    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape; one dimension may be -1."""
        return methods.reshape(self, shape)

    @_guarded
    def transpose(self, *axes: Any) -> Tensor:
        """The dimensions in another order; reversed when none is given."""
        return methods.transpose(self, *axes)

    @_guarded
    def astype(self, dtype: Any) -> Tensor:
        """The elements converted: `x.astype(FLOAT)`."""
        return methods.astype(self, dtype)

    @_guarded
    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The sum along axes; small integers add up in 64 bits, as numpy's do."""
        return reductions.sum(self, axis, keepdims)

    @_guarded
    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The mean along axes; of integers it is float64, as numpy's is."""
        return reductions.mean(self, axis, keepdims)

    @_guarded
    def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The product along axes."""
        return reductions.prod(self, axis, keepdims)

    @_guarded
    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The greatest along axes."""
        return reductions.max(self, axis, keepdims)

    @_guarded
    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The least along axes."""
        return reductions.min(self, axis, keepdims)

    @_guarded
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Where the greatest stands; in the flattened tensor when no axis is given."""
        return reductions.argmax(self, axis, keepdims)

    @_guarded
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Where the least stands; in the flattened tensor when no axis is given."""
        return reductions.argmin(self, axis, keepdims)

    @_guarded
    def any(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Whether any element is true."""
        return reductions.any(self, axis, keepdims)

    @_guarded
    def all(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Whether all elements are true."""
        return reductions.all(self, axis, keepdims)

    @_guarded
    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """The elements held between two bounds."""
        return methods.clip(self, min, max)

    @_guarded
    def squeeze(self, axis: Any = None) -> Tensor:
        """Without its dimensions of size 1, or without those named."""
        return methods.squeeze(self, axis)

    @_guarded
    def flatten(self) -> Tensor:
        """All elements in one dimension."""
        return methods.reshape(self, (-1,))

    @_guarded
    def item(self) -> bool | int | float | complex | str:
        """The one element, as a Python value."""
        return conversions.item(self)

    def as_number(self) -> Any:
        """A scalar as the Python number that an eager run has in its place: known now, or known to the model."""
        raise NotImplementedError

    def as_shape(self) -> Any:
        """A vector as the shape that an eager run has in its place: its elements are numbers."""
        raise NotImplementedError

    # -- Python's conversions --------------------------------------------------------------------------

    @_guarded
    def __bool__(self) -> bool:
        return bool(conversions.item(self, "bool"))

    @_guarded
    def __int__(self) -> int:
        return int(conversions.item(self, "int"))

    @_guarded
    def __float__(self) -> float:
        return float(conversions.item(self, "float"))

    @_guarded
    def __complex__(self) -> complex:
        return complex(conversions.item(self, "complex"))

    @_guarded
    def __index__(self) -> int:
        return conversions.as_index(self)
