"""Sums, products, extremes and truth over axes: `sum`, `prod`, `max`, `min`, `all`, `any`, `count_nonzero`, `ptp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from onnxsmith.algorithms import extremes, reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.cached_calls import cached_call, is_large
from onnxsmith.numpy.conversions import array_from, array_of, as_type, constant_of, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import written
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_some, require_to_fit
from onnxsmith.numpy.sizes import check_broadcast
from onnxsmith.types.dtypes import DType


class Missing:
    """Stands where an argument was not given and None would mean something."""

    def __repr__(self) -> str:
        return "<not given>"


#: What was not given.
MISSING: Final = Missing()


def mask_of(where: ArrayLike, x: Array) -> Array | None:
    """The elements of an array that count, where not all do."""
    if where is True or where is MISSING:
        return None
    mask = array_of(where)
    for mine, theirs in zip(tuple(mask.shape)[::-1], tuple(x.shape)[::-1], strict=False):
        require_to_fit(mine, theirs)
    if mask.dtype.kind != "b":
        raise InputTypeError(f"where= is an array of bool, not of {mask.dtype.name}")
    check_broadcast("an array and where=", x, mask)
    sizes = zip(reversed(tuple(mask.shape)), reversed(tuple(x.shape)), strict=False)
    if mask.ndim > x.ndim or any(b == 1 != a for a, b in sizes if isinstance(a, int) and isinstance(b, int)):
        raise ShapeError(f"where= of shape {mask.shape} is more than the array, of shape {x.shape}")
    return mask


def sum_type(dtype: NumpyDType) -> NumpyDType:
    """The element type of a sum or a product: integers have 64 bits."""
    if dtype.kind in "bi":
        return dtypes.INT64
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def masked(x: Field, mask: Array | None, value: float) -> Field:
    """The elements that count, and a fixed value in the places of the others."""
    if mask is None:
        return x
    instead = Field(values.constant(values.like(value, x.re)))
    return where(tensor_of(mask), x, instead)


# -- sums and products -----------------------------------------------------------------------------------


def is_long(x: Array, axes: Sequence[int]) -> bool:
    """True if the axes are known to have so many elements that they are added block by block."""
    shape = x.shape
    return is_large([shape[axis] for axis in axes], _MANY_BITS)


#: About so many, as a power of 2, are added at once.
_MANY_BITS = 8


@recorded()
def summed(
    x: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    keepdims: bool,
    initial: Array | None = None,
    mask: Array | None = None,
    is_long: bool = False,
) -> Array:
    """The sum over axes, in an element type."""
    field = masked(tensors_of(as_type(x, dtype)), mask, 0)
    first = None if initial is None else tensors_of(as_type(initial, dtype))
    if field.dtype is DType.BOOL:
        found = reductions.any_true(field.re, axes, keepdims)
        return array_from(found if first is None else found | first.re)
    added = reductions.total(field, axes, keepdims, is_long=is_long)
    return array_from(added if first is None else first + added)


@recorded()
def multiplied(
    x: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    keepdims: bool,
    initial: Array | None = None,
    mask: Array | None = None,
) -> Array:
    """The product over axes, in an element type."""
    field = masked(tensors_of(as_type(x, dtype)), mask, 1)
    first = None if initial is None else tensors_of(as_type(initial, dtype))
    if field.dtype is DType.BOOL:
        found = reductions.all_true(field.re, axes, keepdims)
        return array_from(found if first is None else found & first.re)
    return array_from(reductions.total_product(field, axes, keepdims, first))


def _initial(initial: object, dtype: NumpyDType) -> Array | None:
    return None if initial is MISSING or initial is None else constant_of(initial, dtype)


@public("sum")
@cached_call()
def sum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The sum over axes, or of all elements; small integers are added in 64 bits.

    >>> import onnxsmith.numpy as xp
    >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=1)
    Array([3, 7])
    """
    x = array_of(a)
    kind = sum_type(x.dtype) if dtype is None else dtypes.read(dtype)
    axes = axes_of(axis, x.ndim)
    first = _initial(initial, kind)
    return written(summed(x, axes, kind, bool(keepdims), first, mask_of(where, x), is_long(x, axes)), out)


@public("prod")
@cached_call()
def prod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The product over axes, or of all elements; small integers are multiplied in 64 bits.

    >>> import onnxsmith.numpy as xp
    >>> xp.prod(xp.asarray([2, 3, 4]))
    Array(24)
    """
    x = array_of(a)
    kind = sum_type(x.dtype) if dtype is None else dtypes.read(dtype)
    axes = axes_of(axis, x.ndim)
    return written(multiplied(x, axes, kind, bool(keepdims), _initial(initial, kind), mask_of(where, x)), out)


# -- extremes --------------------------------------------------------------------------------------------


@recorded()
def extreme(
    x: Array,
    axes: tuple[int, ...],
    keepdims: bool,
    is_max: bool,
    initial: Array | None = None,
    mask: Array | None = None,
) -> Array:
    """The greatest or least over axes, and of an initial value, which stands for what does not count."""
    field = tensors_of(x)
    if initial is None:
        return array_from(extremes.extreme(field, axes, keepdims, is_max=is_max))
    first = tensors_of(as_type(initial, x.dtype))
    if mask is not None:
        field = where(tensor_of(mask), field, first)
    return array_from(extremes.extreme(field, axes, keepdims, is_max=is_max, first=first))


def is_empty(x: Array) -> bool:
    """True if an array is known to have no elements."""
    return any(isinstance(size, int) and size == 0 for size in x.shape)


def check_not_empty(x: Array, axes: Sequence[int], what: str) -> None:
    """Refuse what has no answer for no elements, where sizes are known."""
    if x.is_symbolic:
        name = "minimum" if "least" in what else "maximum"
        said = f"zero-size array to reduction operation {name} which has no identity"
        require_some(x, axes, ValueError(said))
        return
    shape = x.shape
    if any(shape[axis] == 0 for axis in axes):
        raise ShapeError(f"{what} of no elements does not exist", help="give initial=, where it is taken")


def _extreme(
    a: ArrayLike,
    axis: Axes,
    out: Array | None,
    keepdims: bool,
    initial: object,
    where: ArrayLike,
    *,
    is_max: bool,
) -> Array:
    x = array_of(a)
    axes = axes_of(axis, x.ndim)
    mask = mask_of(where, x)
    first = _initial(initial, x.dtype)
    if first is None:
        if mask is not None:
            raise AttributeValueError(
                "where= needs initial=: nobody knows what an extreme of no elements is",
                culprit=("attribute", "where"),
            )
        check_not_empty(x, axes, "the greatest" if is_max else "the least")
    return written(extreme(x, axes, bool(keepdims), is_max, first, mask), out)


@public("max")
@public("amax")
@cached_call()
def max(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The greatest element over axes, or of all; NaN is greater than everything.

    >>> import onnxsmith.numpy as xp
    >>> xp.max(xp.asarray([[1, 5], [3, 4]]), axis=0)
    Array([3, 5])
    """
    return _extreme(a, axis, out, keepdims, initial, where, is_max=True)


@public("min")
@public("amin")
@cached_call()
def min(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The least element over axes, or of all; NaN is less than everything.

    >>> import onnxsmith.numpy as xp
    >>> xp.min(xp.asarray([[1, 5], [3, 4]]), axis=0)
    Array([1, 4])
    """
    return _extreme(a, axis, out, keepdims, initial, where, is_max=False)


@recorded()
def _spread(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    field = tensors_of(x)
    high, low = (extremes.extreme(field, axes, keepdims, is_max=each) for each in (True, False))
    return array_from(high - low)


@public("ptp")
@cached_call()
def ptp(a: ArrayLike, axis: Axes = None, out: Array | None = None, keepdims: bool = False) -> Array:
    """How far the greatest element is from the least, over axes.

    >>> import onnxsmith.numpy as xp
    >>> xp.ptp(xp.asarray([3, 9, 4]))
    Array(6)
    """
    x = array_of(a)
    axes = axes_of(axis, x.ndim)
    check_not_empty(x, axes, "the greatest")
    if x.dtype.kind == "b":
        raise InputTypeError("truth values have no difference", help="xp.ptp(x.astype(xp.int8))")
    return written(_spread(x, axes, bool(keepdims)), out)


# -- truth -----------------------------------------------------------------------------------------------


@recorded()
def _truth(x: Array, axes: tuple[int, ...], keepdims: bool, is_all: bool, mask: Array | None) -> Array:
    is_true = tensor_of(x) if x.dtype.kind == "b" else tensors_of(x).is_nonzero()
    if mask is not None:
        within = tensor_of(mask)
        is_true = ~within | is_true if is_all else within & is_true
    return array_from((reductions.all_true if is_all else reductions.any_true)(is_true, axes, keepdims))


@public("all")
@cached_call()
def all_(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """True if all elements over axes are true.

    >>> import onnxsmith.numpy as xp
    >>> xp.all(xp.asarray([[1, 0], [3, 4]]), axis=0)
    Array([ True, False])
    """
    x = array_of(a)
    return written(_truth(x, axes_of(axis, x.ndim), bool(keepdims), True, mask_of(where, x)), out)


@public("any")
@cached_call()
def any_(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """True if any element over axes is true.

    >>> import onnxsmith.numpy as xp
    >>> xp.any(xp.asarray([[1, 0], [3, 0]]), axis=0)
    Array([ True, False])
    """
    x = array_of(a)
    return written(_truth(x, axes_of(axis, x.ndim), bool(keepdims), False, mask_of(where, x)), out)


@recorded()
def _count(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    is_true = tensor_of(x) if x.dtype.kind == "b" else tensors_of(x).is_nonzero()
    return array_from(reductions.total(Field(values.converted(is_true, DType.INT64)), axes, keepdims))


@public("count_nonzero")
@cached_call()
def count_nonzero(a: ArrayLike, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """How many elements over axes are not zero.

    >>> import onnxsmith.numpy as xp
    >>> xp.count_nonzero(xp.asarray([[1, 0], [3, 4]]))
    Array(3)
    """
    x = array_of(a)
    return _count(x, axes_of(axis, x.ndim), bool(keepdims))
