"""Distinct elements, and arrays as sets: `unique`, `isin`, `intersect1d`, `union1d`, `setdiff1d`, `setxor1d`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms import distinct, searching, sorting, values
from onnxsmith.algorithms.complex_numbers.field import Field, joined
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import NUMPYS_TUPLES, public
from onnxsmith.numpy.sharing import detached
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
_END = np.iinfo(np.int64).max


class UniqueAllResult(NamedTuple):
    """The distinct elements, where each stood first, which of them each element is, and how often each stands."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The distinct elements, and how often each stands."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The distinct elements, and which of them each element is."""

    values: Array
    inverse_indices: Array


NUMPYS_TUPLES.update(
    {
        UniqueAllResult: lambda: np.unique_all(np.zeros(1)),
        UniqueCountsResult: lambda: np.unique_counts(np.zeros(1)),
        UniqueInverseResult: lambda: np.unique_inverse(np.zeros(1)),
    }
)


def _row(x: Array) -> Field:
    field = tensors_of(x)
    return field if x.ndim == 1 else field.map(values.flat)


@recorded()
def _distinct(
    x: Array, wants_first: bool, wants_inverse: bool, wants_counts: bool, equal_nan: bool
) -> tuple[Array, ...]:
    groups = distinct.distinct(_row(x), equal_nan=equal_nan)
    found = [array_from(groups.values)]
    if wants_first:
        found.append(array_from(groups.first))
    if wants_inverse:
        shape = op.Shape(tensors_of(x).re)
        found.append(array_from(op.Reshape(groups.inverse, shape, allowzero=1)))
    if wants_counts:
        found.append(array_from(groups.counts))
    return tuple(found)


def _groups(x: Array, *wanted: bool, equal_nan: bool = False) -> tuple[Array, ...]:
    """The distinct elements and more; none is a number, whatever has no dimensions."""
    first, inverse, counts = wanted
    return tuple(map(detached, _distinct(x, first, inverse, counts, equal_nan)))


@recorded()
def _distinct_slices(
    x: Array, axis: int, wants_first: bool, wants_inverse: bool, wants_counts: bool
) -> tuple[Array, ...]:
    """The distinct slices across an axis, in the order of their elements."""
    groups = distinct.distinct_slices(tensors_of(x), axis)
    found = [array_from(groups.values)]
    asked = ((wants_first, groups.first), (wants_inverse, groups.inverse), (wants_counts, groups.counts))
    for wanted, each in asked:
        if wanted:
            found.append(array_from(each))
    return tuple(found)


@public("unique")
@cached_call()
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Array | tuple[Array, ...]:
    """The distinct elements in order, or the distinct slices across an axis; and what else is asked for.

    >>> import onnxsmith.numpy as xp
    >>> xp.unique(xp.asarray([3, 1, 3]), return_counts=True)
    (Array([1, 3]), Array([1, 2]))
    """
    x = array_of(ar)
    wanted = bool(return_index), bool(return_inverse), bool(return_counts)
    if axis is None:
        found = _groups(x, *wanted, equal_nan=bool(equal_nan))
    else:
        place = axis_of(axis, x.ndim)
        found = _distinct_slices(x, place, *wanted)
        if place:  # numpy finds them along the first axis, and moves that back
            found = (detached(found[0], is_plain=False), *found[1:])
    return found if any(wanted) else found[0]


@public("unique_all")
def unique_all(x: ArrayLike, /) -> UniqueAllResult:
    """The distinct elements, each NaN one of its own; where each stood first, which each is, and how often.

    >>> import onnxsmith.numpy as xp
    >>> xp.unique_all(xp.asarray([2, 1, 2])).values
    Array([1, 2])
    """
    return UniqueAllResult(*_groups(array_of(x), True, True, True))


@public("unique_counts")
def unique_counts(x: ArrayLike, /) -> UniqueCountsResult:
    """The distinct elements, each NaN one of its own, and how often each stands.

    >>> import onnxsmith.numpy as xp
    >>> xp.unique_counts(xp.asarray([2, 1, 2])).counts
    Array([1, 2])
    """
    return UniqueCountsResult(*_groups(array_of(x), False, False, True))


@public("unique_inverse")
def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult:
    """The distinct elements, each NaN one of its own, and which of them each element is.

    >>> import onnxsmith.numpy as xp
    >>> xp.unique_inverse(xp.asarray([2, 1, 2])).inverse_indices
    Array([1, 0, 1])
    """
    return UniqueInverseResult(*_groups(array_of(x), False, True, False))


@public("unique_values")
@cached_call()
def unique_values(x: ArrayLike, /) -> Array:
    """The distinct elements, each NaN one of its own.

    >>> import onnxsmith.numpy as xp
    >>> xp.unique_values(xp.asarray([2, 1, 2]))
    Array([1, 2])
    """
    return _groups(array_of(x), False, False, False)[0]


# -- sets ------------------------------------------------------------------------------------------------


@recorded()
def _is_in(x: Array, others: Array, dtype: NumpyDType, invert: bool) -> Array:
    given, among = tensors_of(as_type(x, dtype)), _row(as_type(others, dtype))
    if dtype.kind == "b":
        given, among = given.cast(DType.UINT8), among.cast(DType.UINT8)
    found = searching.is_in(given, among)
    return array_from(~found if invert else found)


@public("isin")
@cached_call(2)
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    """True where an element is one of others.

    >>> import onnxsmith.numpy as xp
    >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1]))
    Array([ True, False,  True])
    """
    check_choice("kind", kind, "sort", "table", others=(None,))
    x, others = array_of(element), array_of(test_elements)
    return detached(_is_in(x, others, np.promote_types(x.dtype, others.dtype), bool(invert)))


def _sets(ar1: ArrayLike, ar2: ArrayLike) -> tuple[Array, Array]:
    first, second = array_of(ar1), array_of(ar2)
    dtype = np.promote_types(first.dtype, second.dtype)
    return as_type(first, dtype), as_type(second, dtype)


def _in_type(x: Field, dtype: NumpyDType) -> Field:
    """Elements in the type that those of two arrays go into: after the distinct ones are found, as numpy does."""
    return tensors_of(as_type(array_from(x), dtype))


def _kept(x: Field, mask: Tensor) -> Field:
    return x.map(op.Compress, mask, axis=0)


@recorded()
def _union(first: Array, second: Array) -> Array:
    return array_from(distinct.distinct(joined([_row(first), _row(second)], 0)).values)


@public("union1d")
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Array:
    """The distinct elements of two arrays together, in order.

    >>> import onnxsmith.numpy as xp
    >>> xp.union1d(xp.asarray([3, 1]), xp.asarray([1, 2]))
    Array([1, 2, 3])
    """
    return _union(*_sets(ar1, ar2))


@recorded()
def _difference(x: Array, others: Array, dtype: NumpyDType, is_unique: bool) -> Array:
    row = _row(x) if is_unique else distinct.distinct(_row(x)).values
    given, among = _in_type(row, dtype), _row(as_type(others, dtype))
    if dtype.kind == "b":
        given, among = given.cast(DType.UINT8), among.cast(DType.UINT8)
    return array_from(_kept(row, ~searching.is_in(given, among)))


@public("setdiff1d")
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """The distinct elements of one array that are not in another, in order.

    >>> import onnxsmith.numpy as xp
    >>> xp.setdiff1d(xp.asarray([3, 1, 2]), xp.asarray([1, 4]))
    Array([2, 3])
    """
    first, second = array_of(ar1), array_of(ar2)
    return _difference(first, second, np.promote_types(first.dtype, second.dtype), bool(assume_unique))


@recorded()
def _in_one(first: Array, second: Array, dtype: NumpyDType, is_unique: bool) -> Array:
    rows = [_row(each) if is_unique else distinct.distinct(_row(each)).values for each in (first, second)]
    both = sorting.ordered(joined([_in_type(each, dtype) for each in rows], 0), 0)
    # An element that is in one alone differs from the one before it and from the one behind it.
    is_new = distinct.differs_from_before(both, equal_nan=False)
    is_last = distinct.differs_from_next(is_new)
    return array_from(_kept(both, is_new & is_last))


@public("setxor1d")
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """The elements that are in one of two arrays alone, in order.

    >>> import onnxsmith.numpy as xp
    >>> xp.setxor1d(xp.asarray([3, 1, 2]), xp.asarray([1, 4]))
    Array([2, 3, 4])
    """
    first, second = array_of(ar1), array_of(ar2)
    return _in_one(first, second, np.promote_types(first.dtype, second.dtype), bool(assume_unique))


@recorded()
def _common(
    first: Array, second: Array, dtype: NumpyDType, is_unique: bool, wants_places: bool
) -> tuple[Array, ...]:
    groups = [
        distinct.Groups(row, places, places, places) if is_unique else distinct.distinct(row)
        for row in (_row(first), _row(second))
        for places in (values.counted(values.size_of(row.re, 0)),)
    ]
    both = joined([_in_type(each.values, dtype) for each in groups], 0)
    order = sorting.order(both, 0)
    rows = both.map(op.Gather, order)
    is_new = distinct.differs_from_before(rows, equal_nan=False)
    # Equal elements stand side by side, the one of the first array before that of the second.
    is_pair = ~op.Slice(is_new, [1], [_END])
    earlier = op.Compress(op.Slice(order, [0], [-1]), is_pair, axis=0)
    found = [array_from(both.map(op.Gather, earlier))]
    if wants_places:
        later = op.Compress(op.Slice(order, [1], [_END]), is_pair, axis=0)
        size = op.Size(groups[0].values.re)
        found.append(array_from(op.Gather(groups[0].first, earlier)))
        found.append(array_from(op.Gather(groups[1].first, later - size)))
    return tuple(found)


@public("intersect1d")
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Array | tuple[Array, ...]:
    """The distinct elements that two arrays share, in order; with `return_indices`, where each stood first in both.

    >>> import onnxsmith.numpy as xp
    >>> xp.intersect1d(xp.asarray([3, 1, 2]), xp.asarray([1, 4, 3]))
    Array([1, 3])
    """
    first, second = array_of(ar1), array_of(ar2)
    dtype = np.promote_types(first.dtype, second.dtype)
    found = _common(first, second, dtype, bool(assume_unique), bool(return_indices))
    return found if return_indices else found[0]
