"""What type checkers see of tensors: one class per element type, and what may stand where an operator takes an input.

Exists for checkers and editors alone. When a program runs, `FLOAT` is an object that describes a type and a tensor is
a `core.tensor.Tensor`; here both are classes, so that `x: FLOAT[N, 4]` declares what `x` can do.
"""

# mypy: disable-error-code="assignment, override, overload-overlap, misc"
# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false
# pyright: reportOverlappingOverload=false, reportAssignmentType=false

from builtins import type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, SupportsIndex, TypeAlias, overload

import numpy as np
from typing_extensions import Self, TypeVar

from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

NumpyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_X = TypeVar("_X")
_Number = TypeVar("_Number")

# -- what may stand where an operator takes an input -------------------------------------------------------------

# One Sequence with a union inside, not a union of Sequences: mypy infers `[n, 4]` from the first and not from the second.
NumberOrList: TypeAlias = _X | Sequence[_X | Sequence[_X | Sequence[_X]]]
ArrayOrNumber: TypeAlias = NumberOrList[_X] | NumpyArray | np.generic
TensorOf: TypeAlias = TypedTensor[_X, _Number] | OpenTensor
TensorOrArray: TypeAlias = TensorOf[_X, _Number] | ArrayOrNumber[_Number]
# A list of positions or sizes may hold scalar tensors among its numbers: `op.Reshape(x, [n, -1])`.
TensorIndices: TypeAlias = (
    TensorOf[_X, _Number] | Sequence[TensorOf[_X, _Number] | _Number | Sequence[_Number | Sequence[_Number]]]
)
Indices: TypeAlias = TensorIndices[_X, _Number] | _Number | NumpyArray | np.generic
Tensors: TypeAlias = Sequence[TensorOf[_X, _Number] | NumpyArray]

# -- what may stand where an operator takes an attribute ---------------------------------------------------------

Int: TypeAlias = int | np.integer[Any]
Float: TypeAlias = float | np.floating[Any] | np.integer[Any]
Ints: TypeAlias = Sequence[Int] | np.ndarray[Any, np.dtype[np.integer[Any]]]
Floats: TypeAlias = Sequence[Float] | np.ndarray[Any, np.dtype[np.floating[Any]]]
DTypeLike: TypeAlias = _type[Tensor] | DType | int | np.dtype[Any] | _type[np.generic]
TensorValue: TypeAlias = Tensor | ArrayOrNumber[complex | str] | Proto
TypeValue: TypeAlias = _type[Any] | Proto
Body: TypeAlias = Callable[..., Any] | Proto

class Proto(Protocol):
    """A protocol buffer: TensorProto, GraphProto and their like."""

    @property
    def SerializeToString(self) -> Callable[..., bytes]: ...

# -- tensors -----------------------------------------------------------------------------------------------------

class _Unorderable:
    """Nothing is one. Makes `max(x, y)` pass, which wants a comparison that returns a bool."""

class _Subscripted(type):
    def __getitem__(cls: _type[_X], shape: Any) -> _type[_X]: ...

class _Shaped(metaclass=_Subscripted):
    def __class_getitem__(cls, shape: Any) -> _type[Self]: ...

_Axis: TypeAlias = int | Sequence[int] | None

class Tensor:
    """A tensor: running (an array behind it) or symbolic (a value of a graph being made).

    `Tensor` leaves the element type open; `FLOAT`, `INT64` and the others say what it is.
    """

    dtype: ClassVar[DType]

    @property
    def _is_open(self) -> Literal[True]: ...
    def __add__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __radd__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __sub__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rsub__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __mul__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rmul__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __truediv__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rtruediv__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __floordiv__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rfloordiv__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __mod__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rmod__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __pow__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rpow__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __matmul__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rmatmul__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __and__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rand__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __or__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __ror__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __xor__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rxor__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __lshift__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rlshift__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rshift__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __rrshift__(self, other: Tensor | ArrayOrNumber[complex | str]) -> AnyTensor: ...
    def __neg__(self) -> Self: ...
    def __pos__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __round__(self, digits: SupportsIndex | None = None) -> Self: ...
    def __eq__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    def __ne__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    @overload
    def __lt__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    @overload
    def __lt__(self, other: _Unorderable) -> bool: ...
    @overload
    def __gt__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    @overload
    def __gt__(self, other: _Unorderable) -> bool: ...
    def __le__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    def __ge__(self, other: Tensor | ArrayOrNumber[complex | str]) -> BOOL: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Self]: ...
    def __contains__(self, item: Tensor | ArrayOrNumber[complex | str]) -> bool: ...
    def __getitem__(self, index: Any) -> Self: ...
    @property
    def at(self) -> _Updates[Self, complex | str]:
        """Functional updates: `x.at[i].set(v)` is a new tensor."""

    @property
    def shape(self) -> tuple[AnyTensor, ...]:
        """Its dimensions: ints where they are known, scalar tensors where the model decides."""

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""

    @property
    def size(self) -> AnyTensor:
        """How many elements it has."""

    @property
    def T(self) -> Self:
        """All dimensions in reverse order."""

    def reshape(self, *shape: Any) -> Self:
        """The same elements in another shape; one dimension may be -1."""

    def transpose(self, *axes: Any) -> Self:
        """The dimensions in another order; reversed when none is given."""

    def squeeze(self, axis: _Axis = None) -> Self:
        """Without its dimensions of size 1, or without those named."""

    def flatten(self) -> Self:
        """All elements in one dimension."""

    def ravel(self) -> Self:
        """All elements in one dimension."""

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """With two dimensions in each other's place."""

    @overload
    def astype(self, dtype: _type[_X]) -> _X:
        """The elements converted: `x.astype(FLOAT)`."""

    @overload
    def astype(self, dtype: DTypeLike) -> AnyTensor: ...
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> AnyTensor:
        """The sum along axes; small integers add up in 64 bits, as numpy's do."""

    def prod(self, axis: _Axis = None, keepdims: bool = False) -> AnyTensor:
        """The product along axes; small integers in 64 bits, as numpy's."""

    def mean(self, axis: _Axis = None, keepdims: bool = False) -> AnyTensor:
        """The mean along axes; of integers it is float64, as numpy's is."""

    def var(self, axis: _Axis = None, ddof: float = 0, keepdims: bool = False) -> AnyTensor:
        """The variance along axes; of integers it is float64, as numpy's is."""

    def std(self, axis: _Axis = None, ddof: float = 0, keepdims: bool = False) -> AnyTensor:
        """The standard deviation along axes."""

    def cumsum(self, axis: int | None = None) -> AnyTensor:
        """The running sum along an axis, of the flattened tensor when none is given."""

    def argsort(self, axis: int | None = -1) -> INT64:
        """The positions of the elements in ascending order; equal ones stay in their order."""

    def max(self, axis: _Axis = None, keepdims: bool = False) -> Self:
        """The greatest along axes."""

    def min(self, axis: _Axis = None, keepdims: bool = False) -> Self:
        """The least along axes."""

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> INT64:
        """Where the greatest stands; in the flattened tensor when no axis is given."""

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> INT64:
        """Where the least stands; in the flattened tensor when no axis is given."""

    def any(self, axis: _Axis = None, keepdims: bool = False) -> BOOL:
        """Whether any element is true."""

    def all(self, axis: _Axis = None, keepdims: bool = False) -> BOOL:
        """Whether all elements are true."""

    def clip(
        self, min: Tensor | ArrayOrNumber[complex] | None = None, max: Tensor | ArrayOrNumber[complex] | None = None
    ) -> Self:
        """The elements held between two bounds."""

    def item(self) -> Any:
        """The one element, as a Python value."""

    def numpy(self) -> NumpyArray:
        """The array behind it, not a copy."""

    @property
    def type(self) -> TensorType:
        """Element type and shape, as far as they are known."""

class OpenTensor(Protocol):
    """A tensor whose element type is not known; those that have one of the classes below are none."""

    @property
    def _is_open(self) -> Literal[True]: ...

class AnyTensor(Tensor, Any):
    """A result of which only the program's run says what it is: its element type, or whether it is an array.

    It passes for whatever is wanted of it, as Any does, but editors know its methods.
    """

# The first parameter is the class itself: `class FLOAT(TypedTensor[FLOAT, float])`. Being invariant, it keeps FLOAT and
# INT64 apart where one type variable stands for two inputs of an operator, which inheritance alone would not, since
# both are tensors. The second is the Python number that such a tensor meets without losing more than rounding.
_Class = TypeVar("_Class")
_Literal = TypeVar("_Literal")

class TypedTensor(Tensor, Generic[_Class, _Literal]):
    """What all tensors of a known element type have in common."""

    @property
    def _is_open(self) -> Literal[False]: ...
    def __add__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __radd__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __sub__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rsub__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __mul__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rmul__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __truediv__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rtruediv__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __floordiv__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rfloordiv__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __mod__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rmod__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __pow__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rpow__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __matmul__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rmatmul__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __and__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rand__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __or__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __ror__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __xor__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rxor__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __lshift__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rlshift__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rshift__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __rrshift__(self, other: Self | ArrayOrNumber[_Literal]) -> Self: ...
    def __eq__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    def __ne__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    @overload
    def __lt__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    @overload
    def __lt__(self, other: _Unorderable) -> bool: ...
    @overload
    def __gt__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    @overload
    def __gt__(self, other: _Unorderable) -> bool: ...
    def __le__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    def __ge__(self, other: Self | ArrayOrNumber[_Literal]) -> BOOL: ...
    def __contains__(self, item: Self | ArrayOrNumber[_Literal]) -> bool: ...
    @property
    def at(self) -> _Updates[Self, _Literal]: ...
    def clip(
        self, min: Self | ArrayOrNumber[_Literal] | None = None, max: Self | ArrayOrNumber[_Literal] | None = None
    ) -> Self: ...
    def item(self) -> _Literal: ...

_T = TypeVar("_T")

class _Updates(Generic[_T, _Literal]):
    def __getitem__(self, index: Any) -> _Update[_T, _Literal]: ...

class _Update(Generic[_T, _Literal]):
    def get(self) -> _T: ...
    def set(self, value: _T | ArrayOrNumber[_Literal]) -> _T: ...
    def add(self, value: _T | ArrayOrNumber[_Literal]) -> _T: ...
    def multiply(self, value: _T | ArrayOrNumber[_Literal]) -> _T: ...
    def min(self, value: _T | ArrayOrNumber[_Literal]) -> _T: ...
    def max(self, value: _T | ArrayOrNumber[_Literal]) -> _T: ...

class _WithoutBits:
    __and__: None
    __rand__: None
    __or__: None
    __ror__: None
    __xor__: None
    __rxor__: None
    __invert__: None
    __lshift__: None
    __rlshift__: None
    __rshift__: None
    __rrshift__: None

class _WithoutArithmetic:
    __add__: None
    __radd__: None
    __sub__: None
    __rsub__: None
    __mul__: None
    __rmul__: None
    __truediv__: None
    __rtruediv__: None
    __floordiv__: None
    __rfloordiv__: None
    __mod__: None
    __rmod__: None
    __pow__: None
    __rpow__: None
    __matmul__: None
    __rmatmul__: None
    __neg__: None
    __abs__: None
    __round__: None

class _Float(_WithoutBits, TypedTensor[_Class, float]):
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...

class _Complex(_WithoutBits, TypedTensor[_Class, complex]):
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> Self: ...

class _Signed(TypedTensor[_Class, int]):
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> INT64: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> INT64: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> DOUBLE: ...

class _Unsigned(TypedTensor[_Class, int]):
    def sum(self, axis: _Axis = None, keepdims: bool = False) -> UINT64: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> UINT64: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> DOUBLE: ...

class FLOAT(_Float[FLOAT], _Shaped):
    """A float32 tensor; brackets give a shape, as in `FLOAT[N, 4]` or `FLOAT[...]`."""

class DOUBLE(_Float[DOUBLE], _Shaped):
    """A float64 tensor."""

class FLOAT16(_Float[FLOAT16], _Shaped):
    """A float16 tensor."""

class BFLOAT16(_Float[BFLOAT16], _Shaped):
    """A bfloat16 tensor."""

class FLOAT8E4M3FN(_Float[FLOAT8E4M3FN], _Shaped):
    """A float8_e4m3fn tensor."""

class FLOAT8E4M3FNUZ(_Float[FLOAT8E4M3FNUZ], _Shaped):
    """A float8_e4m3fnuz tensor."""

class FLOAT8E5M2(_Float[FLOAT8E5M2], _Shaped):
    """A float8_e5m2 tensor."""

class FLOAT8E5M2FNUZ(_Float[FLOAT8E5M2FNUZ], _Shaped):
    """A float8_e5m2fnuz tensor."""

class FLOAT8E8M0(_Float[FLOAT8E8M0], _Shaped):
    """A float8_e8m0fnu tensor."""

class FLOAT6E2M3(_Float[FLOAT6E2M3], _Shaped):
    """A float6_e2m3fn tensor."""

class FLOAT6E3M2(_Float[FLOAT6E3M2], _Shaped):
    """A float6_e3m2fn tensor."""

class FLOAT4E2M1(_Float[FLOAT4E2M1], _Shaped):
    """A float4_e2m1fn tensor."""

class INT2(_Signed[INT2], _Shaped):
    """An int2 tensor."""

class INT4(_Signed[INT4], _Shaped):
    """An int4 tensor."""

class INT8(_Signed[INT8], _Shaped):
    """An int8 tensor."""

class INT16(_Signed[INT16], _Shaped):
    """An int16 tensor."""

class INT32(_Signed[INT32], _Shaped):
    """An int32 tensor."""

class INT64(_Signed[INT64], _Shaped):
    """An int64 tensor."""

class UINT2(_Unsigned[UINT2], _Shaped):
    """A uint2 tensor."""

class UINT4(_Unsigned[UINT4], _Shaped):
    """A uint4 tensor."""

class UINT8(_Unsigned[UINT8], _Shaped):
    """A uint8 tensor."""

class UINT16(_Unsigned[UINT16], _Shaped):
    """A uint16 tensor."""

class UINT32(_Unsigned[UINT32], _Shaped):
    """A uint32 tensor."""

class UINT64(_Unsigned[UINT64], _Shaped):
    """A uint64 tensor."""

class COMPLEX64(_Complex[COMPLEX64], _Shaped):
    """A complex64 tensor."""

class COMPLEX128(_Complex[COMPLEX128], _Shaped):
    """A complex128 tensor."""

class BOOL(_WithoutArithmetic, TypedTensor[BOOL, bool], _Shaped):
    """A bool tensor: what comparisons give."""

    def sum(self, axis: _Axis = None, keepdims: bool = False) -> INT64: ...
    def prod(self, axis: _Axis = None, keepdims: bool = False) -> INT64: ...
    def mean(self, axis: _Axis = None, keepdims: bool = False) -> DOUBLE: ...

class STRING(_WithoutArithmetic, _WithoutBits, TypedTensor[STRING, str], _Shaped):
    """A tensor of strings."""
