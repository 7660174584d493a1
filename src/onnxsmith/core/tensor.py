"""The tensor that user code holds: Python's operators, indexing and numpy's methods, for both kinds of tensor.

Each method is one line: the meanings stand in `arithmetic`, `bits`, `indexing`, `methods`, `reductions` and
`conversions`, written once.
"""

from __future__ import annotations

import functools
import operator as python_operators
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, overload

import numpy as np

from onnxsmith.core.operands import Axes
from onnxsmith.core.semantics import (
    along,
    arithmetic,
    bits,
    conversions,
    dimensions,
    indexing,
    methods,
    numpy_calls,
    reductions,
)
from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.numpys_types import compute
from onnxsmith.core.semantics.updates import Updates
from onnxsmith.core.semantics.wrong_arguments import wrong_arguments
from onnxsmith.core.value import Array, Operand, PythonNumber, TensorValue, Value
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.types.annotations import DTypeLike

P = ParamSpec("P")
R = TypeVar("R")


@overload
def _guarded(
    function: Callable[Concatenate[Tensor, P], TensorValue],
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def _guarded(function: Callable[Concatenate[Tensor, P], R]) -> Callable[Concatenate[Tensor, P], R]: ...
def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Errors that leave a method point at the user's expression, without our frames.

    And what operators give (`TensorValue`) is what user code holds: every target makes a `Tensor`.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise
        except TypeError as error:
            # Where the arguments do not fit, the function's own frame never begins.
            begins = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            wrong = None if begins else wrong_arguments(function, (self, *args), kwargs)
            if wrong is None:
                raise
            wrong.locate_at_caller()
            hide_own_frames(wrong)
            raise wrong from None

    return functools.update_wrapper(method, function, assigned=("__name__", "__doc__"), updated=())


@overload
def _binary(
    meaning: Callable[[Operand, Operand], TensorValue], *, is_swapped: bool = False
) -> Callable[[Tensor, Operand], Tensor]: ...
@overload
def _binary(
    meaning: Callable[[Operand, Operand], tuple[TensorValue, TensorValue]], *, is_swapped: bool = False
) -> Callable[[Tensor, Operand], tuple[Tensor, Tensor]]: ...
def _binary(
    meaning: Callable[[Operand, Operand], Any], *, is_swapped: bool = False
) -> Callable[[Tensor, Operand], Any]:
    def operator(self: Tensor, other: Operand) -> Any:
        if not _is_operand(other):
            return NotImplemented
        try:
            return compute(meaning, other, self) if is_swapped else compute(meaning, self, other)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    operator.__doc__ = meaning.__doc__
    return operator


def _unary(meaning: Callable[[Tensor], TensorValue]) -> Callable[[Tensor], Tensor]:
    return _guarded(lambda self: meaning(self))


#: A tuple is looked through in half the time that a union takes.
_OPERANDS = (Value, bool, int, float, complex, str, list, tuple)


def _is_operand(other: object) -> bool:
    # A class of numpy's numbers has an element type, too, and is no operand.
    return isinstance(other, _OPERANDS) or (hasattr(other, "dtype") and not isinstance(other, type))


class Tensor(TensorValue):
    """A tensor: running (an array behind it) or symbolic (a value of a graph being made).

    >>> import numpy as np, onnxsmith
    >>> x = onnxsmith.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> x[:, ::-1] * 2
    tensor([[ 4.,  2.,  0.],
            [10.,  8.,  6.]], dtype=float32)
    """

    __slots__ = ()

    __hash__ = object.__hash__

    __add__, __radd__ = _binary(arithmetic.add), _binary(arithmetic.add, is_swapped=True)
    __sub__, __rsub__ = _binary(arithmetic.subtract), _binary(arithmetic.subtract, is_swapped=True)
    __mul__, __rmul__ = _binary(arithmetic.multiply), _binary(arithmetic.multiply, is_swapped=True)
    __truediv__, __rtruediv__ = _binary(arithmetic.divide), _binary(arithmetic.divide, is_swapped=True)
    __floordiv__, __rfloordiv__ = (
        _binary(arithmetic.floor_divide),
        _binary(arithmetic.floor_divide, is_swapped=True),
    )
    __mod__, __rmod__ = _binary(arithmetic.remainder), _binary(arithmetic.remainder, is_swapped=True)
    __pow__, __rpow__ = _binary(arithmetic.power), _binary(arithmetic.power, is_swapped=True)
    __divmod__, __rdivmod__ = (
        _binary(arithmetic.divide_with_remainder),
        _binary(arithmetic.divide_with_remainder, is_swapped=True),
    )
    __matmul__, __rmatmul__ = _binary(arithmetic.matmul), _binary(arithmetic.matmul, is_swapped=True)
    __and__, __rand__ = _binary(bits.bitwise_and), _binary(bits.bitwise_and, is_swapped=True)
    __or__, __ror__ = _binary(bits.bitwise_or), _binary(bits.bitwise_or, is_swapped=True)
    __xor__, __rxor__ = _binary(bits.bitwise_xor), _binary(bits.bitwise_xor, is_swapped=True)
    __lshift__, __rlshift__ = _binary(bits.shift_left), _binary(bits.shift_left, is_swapped=True)
    __rshift__, __rrshift__ = _binary(bits.shift_right), _binary(bits.shift_right, is_swapped=True)
    # Elementwise, as numpy's; object's are for truth values.
    __eq__ = _binary(arithmetic.equal)  # pyright: ignore[reportAssignmentType]
    __ne__ = _binary(arithmetic.not_equal)  # pyright: ignore[reportAssignmentType]
    __lt__ = _binary(arithmetic.less)
    __le__ = _binary(arithmetic.less_equal)
    __gt__ = _binary(arithmetic.greater)
    __ge__ = _binary(arithmetic.greater_equal)
    __neg__ = _unary(arithmetic.negate)
    __invert__ = _unary(bits.invert)
    __abs__ = _unary(arithmetic.absolute)

    # numpy hands over here: array + tensor is the tensor's own addition, not an array of tensors.
    @_guarded
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Operand, **kwargs: Any
    ) -> numpy_calls.Results | Array:
        return numpy_calls.universal_function(ufunc, method, inputs, kwargs)

    @_guarded
    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Collection[type],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        return numpy_calls.array_function(function, args, kwargs)

    @_guarded
    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:
        numpy_calls.refuse_conversion(self)

    def __pos__(self) -> Tensor:
        return self

    def __copy__(self) -> Tensor:
        return self  # tensors do not change

    @_guarded
    def __round__(self, digits: int | None = None) -> TensorValue:
        return arithmetic.round_half_even(self, digits)

    # -- what it is ------------------------------------------------------------------------------------

    @property
    @_guarded
    def ndim(self) -> int:
        """How many dimensions it has.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).ndim
        2
        """
        return methods.rank(self)

    @property
    @_guarded
    def shape(self) -> tuple[Any, ...]:
        """Its dimensions: ints where they are known, scalar tensors where the model decides.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).shape
        (2, 2)
        """
        # Of unknown rank it is a tensor, which does what a tuple does as far as that is possible.
        return cast("tuple[Any, ...]", dimensions.shape(self))

    @property
    @_guarded
    def size(self) -> PythonNumber:
        """How many elements it has.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).size
        4
        """
        return methods.size(self)

    @property
    @_guarded
    def T(self) -> TensorValue:
        """All dimensions in reverse order.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).T
        tensor([[1, 3],
                [2, 4]], dtype=int64)
        """
        return methods.transpose(self)

    # -- parts of it -----------------------------------------------------------------------------------

    @_guarded
    def __getitem__(self, index: Index) -> TensorValue:
        return indexing.get(self, index)

    @property
    def at(self) -> Updates:
        """Functional updates: `x.at[i].set(v)` is a new tensor.

        >>> from onnxsmith import tensor
        >>> x = tensor([1.0, 2.0, 3.0])
        >>> x.at[0].set(9.0)
        tensor([9., 2., 3.], dtype=float32)
        """
        return Updates(self)

    @_guarded
    def __setitem__(self, index: Index, value: Operand) -> None:
        indexing.refuse_assignment()

    @_guarded
    def __len__(self) -> int:
        return conversions.length(self)

    @_guarded
    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[position] for position in range(conversions.iterations(self))])

    @_guarded
    def __contains__(self, item: Operand) -> bool:
        found: Any = python_operators.eq(self, list(item) if isinstance(item, range) else item)
        return found if isinstance(found, bool) else bool(found.any())  # None and the like equal no element

    # -- numpy's methods -------------------------------------------------------------------------------

    @_guarded
    def reshape(self, *shape: methods.ShapePart) -> TensorValue:
        """The same elements in another shape; one dimension may be -1.

        >>> from onnxsmith import tensor
        >>> tensor([1, 2, 3, 4]).reshape(2, -1)
        tensor([[1, 2],
                [3, 4]], dtype=int64)
        """
        return methods.reshape(self, shape)

    @_guarded
    def transpose(self, *axes: Axes) -> TensorValue:
        """The dimensions in another order; reversed when none is given.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).transpose(1, 0)
        tensor([[1, 3],
                [2, 4]], dtype=int64)
        """
        return methods.transpose(self, *axes)

    @_guarded
    def astype(self, dtype: DTypeLike) -> TensorValue:
        """The elements converted: `x.astype(FLOAT)`.

        >>> from onnxsmith import FLOAT, tensor
        >>> tensor([1, 2]).astype(FLOAT)
        tensor([1., 2.], dtype=float32)
        """
        return methods.astype(self, dtype)

    @_guarded
    def sum(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """The sum along axes; small integers add up in 64 bits, as numpy's do.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).sum(axis=0)
        tensor([4, 6], dtype=int64)
        """
        return reductions.sum(self, axis, keepdims)

    @_guarded
    def mean(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """The mean along axes; of integers it is float64, as numpy's is.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 2.0]).mean()
        tensor(1.5, dtype=float32)
        """
        return reductions.mean(self, axis, keepdims)

    @_guarded
    def prod(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """The product along axes.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).prod()
        tensor(24, dtype=int64)
        """
        return reductions.prod(self, axis, keepdims)

    @_guarded
    def var(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> TensorValue:
        """The variance along axes; of integers it is float64, as numpy's is.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 3.0]).var()
        tensor(1., dtype=float32)
        """
        return reductions.var(self, axis, ddof, keepdims)

    @_guarded
    def std(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> TensorValue:
        """The standard deviation along axes.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 3.0]).std()
        tensor(1., dtype=float32)
        """
        return reductions.std(self, axis, ddof, keepdims)

    @_guarded
    def cumsum(self, axis: int | None = None) -> TensorValue:
        """The running sum along an axis, of the flattened tensor when none is given.

        >>> from onnxsmith import tensor
        >>> tensor([1, 2, 3]).cumsum()
        tensor([1, 3, 6], dtype=int64)
        """
        return along.cumsum(self, axis)

    @_guarded
    def argsort(self, axis: int | None = -1) -> TensorValue:
        """The positions of the elements in ascending order; equal ones stay in their order.

        >>> from onnxsmith import tensor
        >>> tensor([3, 1, 2]).argsort()
        tensor([1, 2, 0], dtype=int64)
        """
        return along.argsort(self, axis)

    @_guarded
    def max(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """The greatest along axes.

        >>> from onnxsmith import tensor
        >>> tensor([3, 1, 2]).max()
        tensor(3, dtype=int64)
        """
        return reductions.max(self, axis, keepdims)

    @_guarded
    def min(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """The least along axes.

        >>> from onnxsmith import tensor
        >>> tensor([3, 1, 2]).min()
        tensor(1, dtype=int64)
        """
        return reductions.min(self, axis, keepdims)

    @_guarded
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> TensorValue:
        """Where the greatest stands; in the flattened tensor when no axis is given.

        >>> from onnxsmith import tensor
        >>> tensor([3, 1, 2]).argmax()
        tensor(0, dtype=int64)
        """
        return reductions.argmax(self, axis, keepdims)

    @_guarded
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> TensorValue:
        """Where the least stands; in the flattened tensor when no axis is given.

        >>> from onnxsmith import tensor
        >>> tensor([3, 1, 2]).argmin()
        tensor(1, dtype=int64)
        """
        return reductions.argmin(self, axis, keepdims)

    @_guarded
    def any(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """True if any element is true.

        >>> from onnxsmith import tensor
        >>> tensor([True, False]).any()
        tensor(True)
        """
        return reductions.any(self, axis, keepdims)

    @_guarded
    def all(self, axis: Axes = None, keepdims: bool = False) -> TensorValue:
        """True if all elements are true.

        >>> from onnxsmith import tensor
        >>> tensor([True, False]).all()
        tensor(False)
        """
        return reductions.all(self, axis, keepdims)

    @_guarded
    def clip(self, min: Operand | None = None, max: Operand | None = None) -> TensorValue:
        """The elements held between two bounds.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 5.0]).clip(2.0, 4.0)
        tensor([2., 4.], dtype=float32)
        """
        return methods.clip(self, min, max)

    @_guarded
    def squeeze(self, axis: Axes = None) -> TensorValue:
        """Without its dimensions of size 1, or without those named.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2]]).squeeze(0)
        tensor([1, 2], dtype=int64)
        """
        return methods.squeeze(self, axis)

    @_guarded
    def flatten(self) -> TensorValue:
        """All elements in one dimension.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).flatten()
        tensor([1, 2, 3, 4], dtype=int64)
        """
        return methods.reshape(self, (-1,))

    @_guarded
    def ravel(self) -> TensorValue:
        """All elements in one dimension.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4], dtype=int64)
        """
        return methods.reshape(self, (-1,))

    @_guarded
    def swapaxes(self, axis1: int, axis2: int) -> TensorValue:
        """With two dimensions in each other's place.

        >>> from onnxsmith import tensor
        >>> tensor([[1, 2], [3, 4]]).swapaxes(0, 1)
        tensor([[1, 3],
                [2, 4]], dtype=int64)
        """
        return methods.swapaxes(self, axis1, axis2)

    @_guarded
    def item(self) -> bool | int | float | complex | str:
        """The one element, as a Python value.

        >>> from onnxsmith import tensor
        >>> tensor([7]).item()
        7
        """
        return conversions.item(self)

    # -- Python's conversions --------------------------------------------------------------------------

    @_guarded
    def __bool__(self) -> bool:
        return bool(conversions.item(self, "bool"))

    @_guarded
    def __int__(self) -> int:
        return conversions.as_int(self)

    @_guarded
    def __float__(self) -> float:
        return float(conversions.item(self, "float"))

    @_guarded
    def __complex__(self) -> complex:
        return complex(conversions.item(self, "complex"))

    @_guarded
    def __index__(self) -> int:
        return conversions.as_index(self)
