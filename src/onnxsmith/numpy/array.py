"""`Array`: numpy's meaning on ONNX. It holds a tensor, and is none.

An array whose elements are known holds them as a numpy array, and functions on it run at once; one that is being
recorded holds the tensor of the graph. What each operator and method means stands in the functions of the namespace,
which are looked up by name; how views share their elements stands in `sharing`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics import dimensions
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import hide_own_frames, shown_as
from onnxsmith.errors import (
    AttributeValueError,
    InputTypeError,
    OnnxsmithError,
    TracedValueError,
    UnknownMethodError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.holding import NUMBER, Holding, known_size
from onnxsmith.numpy.holding import Held as Held
from onnxsmith.numpy.refused import REFUSED
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS

_Numpys: TypeAlias = np.ndarray[Any, np.dtype[Any]] | np.generic
#: What numpy takes for an array: one of ours or of numpy's, a number, lists of these.
ArrayLike: TypeAlias = "Array | _Numpys | Number | bool | int | float | complex | Sequence[ArrayLike]"

_NDARRAY = np.ndarray
_Operator: TypeAlias = "Callable[[Array, Any], Array]"


#: What may stand beside an array in an expression; all else is asked for its own operator.
_OPERANDS = (bool, int, float, complex, np.ndarray, np.generic, list, tuple)


def is_operand(value: object) -> bool:
    """True if a value can stand beside an array in an expression."""
    return value.__class__ is Array or isinstance(value, (*_OPERANDS, Array, Tensor))


#: What computes with no array, whatever operators it has itself.
_OTHERS = (str, bytes, bytearray, dict, set, frozenset, type(None))


def _not_operand(name: str, other: object) -> Any:
    """Leave it to the other operand; text and the like are refused here, in our words."""
    what = type(other).__name__
    if not isinstance(other, _OTHERS):
        return NotImplemented
    error = InputTypeError(f"numpy's {name} is not defined for an array and {what}")
    hide_own_frames(error.locate_at_caller())
    raise error


def _binary(name: str) -> tuple[_Operator, _Operator, _Operator]:
    """An operator, the same from the right, and in place."""

    def operator(self: Array, other: UserValue) -> Array:
        if other.__class__ is not Array and not is_operand(other):
            return _not_operand(name, other)
        try:
            return cast(Array, UFUNCS[name](self, other))
        except OnnxsmithError as error:
            hide_own_frames(error)
            raise

    def reflected(self: Array, other: UserValue) -> Array:
        if not is_operand(other):
            return _not_operand(name, other)
        try:
            return cast(Array, UFUNCS[name](other, self))
        except OnnxsmithError as error:
            hide_own_frames(error)
            raise

    def in_place(self: Array, other: UserValue) -> Array:
        if not is_operand(other):
            return _not_operand(name, other)
        try:
            if self.is_number:
                return cast(Array, UFUNCS[name](self, other))
            UFUNCS[name](self, other, out=self)
        except OnnxsmithError as error:
            hide_own_frames(error)
            raise
        return self

    return operator, reflected, in_place


_POWER = _binary("power")


@functools.cache
def _squares_truths() -> bool:
    """True if the installed numpy takes `x ** 2` for `np.square(x)`, whose truth values become the least integers."""
    return bool((np.zeros(1, np.bool_) ** 2).dtype == np.square(np.zeros(1, np.bool_)).dtype)


def _raised(self: Array, other: UserValue) -> Array:
    """`x ** y`"""
    is_square = other.__class__ is int and other == 2 and self.dtype.kind == "b" and not self.is_number
    if is_square and _squares_truths():
        return cast(Array, UFUNCS["square"](self))
    return _POWER[0](self, other)


def _comparison(name: str) -> _Operator:
    """`==` and `!=`: no element of ours is None or text, so that these are compared with nothing being equal."""
    operator = _binary(name)[0]

    def compare(self: Array, other: UserValue) -> Array:
        if other is None or isinstance(other, str | bytes):
            return cast(Array, FUNCTIONS["full_like"](self, name == "not_equal", dtype=bool))
        return operator(self, other)

    return compare


def _unary(name: str) -> Callable[[Array], Array]:
    def operator(self: Array) -> Array:
        return cast(Array, UFUNCS[name](self))

    return operator


def _called(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """A function of the namespace; its errors point at the user's expression."""
    try:
        return FUNCTIONS[name](*args, **kwargs)
    except OnnxsmithError as error:
        error.locate_at_caller()
        hide_own_frames(error)
        raise


def _called_ufunc(name: str, /, *args: Any) -> Any:
    return UFUNCS[name](*args)


def _method(name: str) -> Callable[..., Any]:
    """A function of the namespace as a method of its first argument."""

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out", self) is None:
            del kwargs["out"]  # as if it were not said: not all functions of ours write to one
        return _called(name, self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`xp.{name}` of it."
    return method


@shown_as("Array")
class Array(Holding):
    """An array with numpy's meaning, on ONNX: functions on it run at once, and record as a model.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([[1, 2], [3, 4]])
    >>> x / 2 + xp.asarray([0.5, 1.5])
    Array([[1. , 2.5],
           [2. , 3.5]])
    """

    __slots__ = ("__weakref__",)

    #: numpy's operators hand over to ours.
    __array_priority__ = 1000

    def as_number(self) -> Array:
        """The same, as a number if it has no dimensions: what functions give.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray(3.0).as_number()
        Array(3.)
        """
        if not self.ndim and self._locked is None:
            self._locked = NUMBER
        return self

    # -- in control flow of a model ----------------------------------------------------------------------

    def adopted(self, value: object) -> Array | None:
        """A number, or an array of numpy's, as an array of this element type, where nothing is lost by it.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1.5]).adopted(2)
        Array(2.)
        """
        return _called("_adopted", self, value)

    grown = _method("_grown")
    show_until_written = _method("_shown_until_written")
    asked_for_truth = _method("_truth")

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def tensor(self) -> Tensor:
        """The tensor that it holds: what `op` and scripts compute with. Complex numbers have a last dimension of 2.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1.0]).tensor
        tensor([1.])
        """
        return _called("_as_tensor", self)

    @property
    def dtype(self) -> NumpyDType:
        """The element type, one of numpy's.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1, 2]).dtype
        dtype('int64')
        """
        held = self._value
        if held.__class__ is _NDARRAY:
            return cast("np.ndarray[Any, Any]", held).dtype
        if isinstance(held, Complex):
            return dtypes.complex_of(held.dtype.numpy)
        kind = cast(Tensor, held).dtype
        assert kind is not None  # an array is recorded for an element type that is known
        return kind.numpy

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its dimensions: ints where they are known, numbers of the model where that decides.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).shape
        (2, 3)
        """
        held = self._value
        if held.__class__ is _NDARRAY:
            return cast("np.ndarray[Any, Any]", held).shape
        first = held.real if isinstance(held, Complex) else held
        return cast("tuple[Any, ...]", dimensions.shape(cast(Tensor, first)))

    @property
    def ndim(self) -> int:
        """How many dimensions it has.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).ndim
        2
        """
        held = self._value
        if held.__class__ is _NDARRAY:
            return cast("np.ndarray[Any, Any]", held).ndim
        first = held.real if isinstance(held, Complex) else held
        return cast(Tensor, first).ndim

    @property
    def size(self) -> int:
        """How many elements it has.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).size
        6
        """
        result: Any = 1
        for each in self.shape:
            result = result * each
        return result

    @property
    def itemsize(self) -> int:
        """How many bytes an element takes.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).itemsize
        8
        """
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """How many bytes all elements take.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).nbytes
        48
        """
        return self.size * self.dtype.itemsize

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return FUNCTIONS["_namespace"](api_version)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """numpy's universal functions on arrays of ours are ours: `np.add(x, 1)`, `np.ones(3) + x`."""
        name = ufunc.__name__
        if name not in UFUNCS or getattr(np, name, None) is not ufunc:
            raise InputTypeError(
                f"the universal function {name} is not there for arrays of onnxsmith.numpy"
                + (f": {REFUSED[name]}" if name in REFUSED else ""),
                help="np.asarray(x) gives it the elements",
            ).locate_at_caller()
        found = UFUNCS[name]
        return found(*inputs, **kwargs) if method == "__call__" else getattr(found, method)(*inputs, **kwargs)

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Collection[type],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """numpy's functions on arrays of ours are ours: `np.concatenate([x, y])`."""
        return _called("_array_function", function, args, kwargs)

    # -- operators -------------------------------------------------------------------------------------

    __add__, __radd__, __iadd__ = _binary("add")
    __sub__, __rsub__, __isub__ = _binary("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary("floor_divide")
    __mod__, __rmod__, __imod__ = _binary("remainder")
    __pow__, __rpow__, __ipow__ = _raised, *_POWER[1:]
    __matmul__, __rmatmul__, __imatmul__ = _binary("matmul")
    __and__, __rand__, __iand__ = _binary("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _binary("left_shift")
    __rshift__, __rrshift__, __irshift__ = _binary("right_shift")
    __divmod__, __rdivmod__, _ = _binary("divmod")
    # Elementwise, as numpy's; object's are for truth values.
    __eq__ = _comparison("equal")  # pyright: ignore[reportAssignmentType]
    __ne__ = _comparison("not_equal")  # pyright: ignore[reportAssignmentType]
    __lt__ = _binary("less")[0]
    __le__ = _binary("less_equal")[0]
    __gt__ = _binary("greater")[0]
    __ge__ = _binary("greater_equal")[0]
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")

    # -- parts -----------------------------------------------------------------------------------------

    def __getitem__(self, index: Any, /) -> Array:
        return _called("_getitem", self, index)

    def __setitem__(self, index: Any, value: ArrayLike, /) -> None:
        _called("_setitem", self, index, value)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without dimensions has no length")
        return known_size(self.shape[0], "len")

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim:
            raise TypeError("an array without dimensions has no elements to go through")
        # `np.iterable` asks if there is an iterator, and takes no element: that needs no size.
        if sys._getframe(1).f_code is np.iterable.__code__:  # pyright: ignore[reportPrivateUsage]  # the documented way
            return iter(())
        return iter([self[k] for k in range(known_size(self.shape[0], "a loop"))])

    def __contains__(self, item: ArrayLike) -> bool:
        return bool(_called("any", _called_ufunc("equal", self, item)))

    # -- numpy's methods -------------------------------------------------------------------------------

    all = _method("all")
    any = _method("any")
    argmax = _method("argmax")
    argmin = _method("argmin")
    argpartition = _method("argpartition")
    argsort = _method("argsort")
    choose = _method("choose")
    clip = _method("clip")
    cumprod = _method("cumprod")
    cumsum = _method("cumsum")
    diagonal = _method("diagonal")
    dot = _method("dot")
    max = _method("max")
    mean = _method("mean")
    min = _method("min")
    nonzero = _method("nonzero")
    prod = _method("prod")
    ravel = _method("ravel")
    repeat = _method("repeat")
    round = _method("round")
    searchsorted = _method("searchsorted")
    squeeze = _method("squeeze")
    std = _method("std")
    sum = _method("sum")
    swapaxes = _method("swapaxes")
    take = _method("take")
    trace = _method("trace")
    var = _method("var")

    def compress(self, condition: ArrayLike, axis: int | None = None, out: Array | None = None) -> Array:
        """`xp.compress` of it.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1, 2, 3]).compress([True, False, True])
        Array([1, 3])
        """
        return _called("compress", condition, self, axis, out)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """The same elements in another shape; one size may be -1.

        >>> import onnxsmith.numpy as xp
        >>> xp.arange(4).reshape(2, 2)
        Array([[0, 1],
               [2, 3]])
        """
        given = shape[0] if len(shape) == 1 else shape
        return _called("reshape", self, given, order, copy=copy)

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> Array:
        """The dimensions in another order; reversed when none is given.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).transpose().shape
        (3, 2)
        """
        order = None if not axes else axes[0] if len(axes) == 1 else axes
        return _called("transpose", self, order)

    def copy(self, order: str = "C") -> Array:
        """An array of its own with the same elements.

        >>> import onnxsmith.numpy as xp
        >>> x = xp.asarray([1, 2])
        >>> y = x.copy()
        >>> y[0] = 9
        >>> x
        Array([1, 2])
        """
        return self if self.is_number else _called("copy", self, order)  # nothing writes to a number

    def flatten(self, order: str = "C") -> Array:
        """All elements in one dimension, as a copy.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([[1, 2], [3, 4]]).flatten()
        Array([1, 2, 3, 4])
        """
        return _called("copy", _called("ravel", self, order), "C")

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
        *,
        device: str | None = None,
    ) -> Array:
        """The elements in another type.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1.7, -1.7]).astype(xp.int64)
        Array([ 1, -1])
        """
        made = _called("astype", self, dtype, copy=copy, casting=casting, device=device)
        return made if order == "K" else _called("_in_order", made, order, made is not self)

    def fill(self, value: ArrayLike) -> None:
        """Write one value to all places.

        >>> import onnxsmith.numpy as xp
        >>> x = xp.zeros(2)
        >>> x.fill(3)
        >>> x
        Array([3., 3.])
        """
        _called("_fill", self, value)

    def sort(
        self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None
    ) -> None:
        """Put the elements in ascending order along an axis, in place.

        >>> import onnxsmith.numpy as xp
        >>> x = xp.asarray([3, 1, 2])
        >>> x.sort()
        >>> x
        Array([1, 2, 3])
        """
        self[...] = _called("sort", self, axis=axis, order=order)

    def partition(
        self, kth: int | Sequence[int], axis: int = -1, kind: str = "introselect", order: None = None
    ) -> None:
        """Put the elements in order around some places, in place.

        >>> import onnxsmith.numpy as xp
        >>> x = xp.asarray([3, 1, 2])
        >>> x.partition(0)
        >>> x[0]
        Array(1)
        """
        self[...] = _called("partition", self, kth, axis=axis)

    def conj(self) -> Array:
        """The complex conjugates; an array of real numbers itself.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1 + 2j]).conj()
        Array([1.-2.j])
        """
        return cast(Array, UFUNCS["conjugate"](self)) if self.is_number or self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def flags(self) -> Any:
        """The flags that numpy gives for the memory of such an array.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros(2).flags.writeable
        True
        """
        return _called("_flags", self)

    @property
    def strides(self) -> tuple[Any, ...]:
        """How many bytes are between neighbours in each dimension.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((2, 3)).strides
        (24, 8)
        """
        return _called("_strides", self)

    def view(self, dtype: Any = None, type: Any = None) -> Array:
        """The same elements, shared.

        >>> import onnxsmith.numpy as xp
        >>> x = xp.zeros(2)
        >>> y = x.view()
        >>> y[0] = 1
        >>> x
        Array([1., 0.])
        """
        return _called("_memory_view", self, dtype, type)

    def __array_wrap__(self, array: Array, context: object = None, return_scalar: bool = False) -> Array:
        """Returns the result of a function of numpy's: it is an array already."""
        return array.as_number() if return_scalar else array

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements.

        >>> import onnxsmith.numpy as xp
        >>> list(xp.asarray([1, 2], dtype=xp.uint8).tobytes())
        [1, 2]
        """
        if not isinstance(cast(object, order), str) or order not in "CFA":
            raise AttributeValueError(
                f"order is 'C', 'F' or 'A', not {order!r}", culprit=("attribute", "order")
            ).locate_at_caller()
        return self._known("tobytes()").tobytes("F" if order == "F" else "C")

    @property
    def T(self) -> Array:
        """The dimensions in reverse order: a view.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([[1, 2], [3, 4]]).T
        Array([[1, 3],
               [2, 4]])
        """
        return _called("transpose", self)

    @property
    def mT(self) -> Array:
        """The last two dimensions exchanged: a view.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros((5, 2, 3)).mT.shape
        (5, 3, 2)
        """
        return _called("matrix_transpose", self)

    @property
    def real(self) -> Array:
        """The real parts: a view.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1 + 2j]).real
        Array([1.])
        """
        return _called("real", self)

    @real.setter
    def real(self, value: ArrayLike) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        """The imaginary parts: a view.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([1 + 2j]).imag
        Array([2.])
        """
        return _called("imag", self)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        self.imag[...] = value

    @property
    def device(self) -> str:
        """Where the elements are.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros(2).device
        'cpu'
        """
        return "cpu"

    def to_device(self, device: str, /, *, stream: None = None) -> Array:
        """The array on a device; there is one.

        >>> import onnxsmith.numpy as xp
        >>> xp.zeros(2).to_device("cpu")
        Array([0., 0.])
        """
        return _called("_on_device", self, device, stream)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return _called("_dlpack", self, stream, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def __getattr__(self, name: str) -> Any:
        """Raises an error that tells attributes of numpy's arrays that these lack from names that neither has."""
        _speaks_for_callee = True  # to a 'try' of numpy code: numpy's arrays say so
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'Array' object has no attribute {name!r}", name=name, obj=self)
        raise UnknownMethodError(
            f"arrays that run on ONNX have no attribute '{name}'",
            help="np.asarray(x), where elements are known, has all that numpy's arrays have",
        ).locate_at_caller()

    # -- Python's conversions --------------------------------------------------------------------------

    def _known(
        self, why: str, help: str = "compute with the array itself; where a value decides, use xp.where"
    ) -> np.ndarray[Any, Any]:
        held = self.held
        if held.__class__ is _NDARRAY:
            return cast("np.ndarray[Any, Any]", held)
        raise TracedValueError(
            f"{why} needs the elements of an array that is being recorded, and they exist only when the model runs",
            help=help,
        ).locate_at_caller()

    def __bool__(self) -> bool:
        return bool(
            self._known(
                "a truth value",
                "choose between arrays with xp.where; an if or while of a @script decides by a tensor: "
                "if (x.sum() > 0).tensor:",
            )
        )

    def __int__(self) -> int:
        return int(self._known("int()"))

    def __float__(self) -> float:
        return float(self._known("float()"))

    def __complex__(self) -> complex:
        return complex(self._known("complex()"))

    def __index__(self) -> int:
        return self._known("an index").__index__()

    def item(self, *place: Any) -> Any:
        """One element, as a Python number; of an array that is being recorded, a number of the model.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([7]).item()
        7
        """
        return _called("_item", self, place)

    def tolist(self) -> Any:
        """The elements in nested lists, as Python numbers.

        >>> import onnxsmith.numpy as xp
        >>> xp.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return _called("_to_list", self)

    @property
    def flat(self) -> Array:
        """All elements in one dimension, shared with the array.

        >>> import onnxsmith.numpy as xp
        >>> list(xp.asarray([[1, 2], [3, 4]]).flat)
        [Array(1), Array(2), Array(3), Array(4)]
        """
        return _called("_flat", self)

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        _called("put", self, _called("arange", self.size), value)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The elements as a numpy array, which cannot be written to unless it is a copy."""
        known = self._known("numpy")
        if dtype is not None and dtype != known.dtype:
            if copy is False:
                raise ValueError("another element type takes a copy")
            return known.astype(dtype)
        if copy:
            return known.copy()
        shown = known.view()
        shown.flags.writeable = False
        return shown

    def __repr__(self) -> str:
        held = self.held
        if held.__class__ is not _NDARRAY:
            return shown_text(f"<recorded Array {self.dtype.name}{self.shape!r}>")
        shown = cast("np.ndarray[Any, Any]", held)
        if shown.dtype == np.int64:
            # C has two integers of 64 bits on most systems, and numpy names the type of the one that is not its own.
            shown = shown.view(np.int64)
        text = np.array_repr(shown)
        return text.replace("array(", "Array(").replace("\n      ", "\n      ")

    def __str__(self) -> str:
        return str(self.held) if self.held.__class__ is _NDARRAY else repr(self)

    def __format__(self, spec: str) -> str:
        if self.held.__class__ is not _NDARRAY:
            return repr(self)
        return format(self._known("a format").item() if spec else str(self), spec)

    def __hash__(self) -> int:
        if self.is_number and self.is_symbolic:
            self._known("a hash, in a set or as a key of a dict,")
        raise TypeError("an array has no hash")

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._known("pickle"),)
