"""The order of real and complex elements along an axis, exactly: NaN comes last, and equal elements keep their order.

Complex numbers are in the order of their real parts, then of their imaginary ones. Those with a NaN stand at the end:
with a NaN in the imaginary part alone, in the real one alone, in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.sorting import search_sorted
from onnxsmith.algorithms.values import (
    Size,
    converted,
    counted,
    dtype_of,
    flat,
    int64s,
    like,
    rank_of,
    size_of,
)
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType

#: More than every number of fewer bits, and less than infinity.
_BEYOND = 1e300


def _first_places(
    key: TensorValue, axis: int, descending: bool, count: Size | None = None
) -> tuple[TensorValue, TensorValue]:
    """What comes first by keys without NaN, and where it stood; of equal ones the one that stood first."""
    taken = int64s([size_of(key, axis) if count is None else count])
    values, places = several(op.TopK, key, taken, outputs=2, axis=axis, largest=int(descending))
    return values, places


def order_by(keys: Sequence[TensorValue], axis: int, *, descending: bool = False) -> TensorValue:
    """The order by several keys without NaN, the last of which decides first."""
    places = _first_places(keys[0], axis, descending)[1]
    for key in keys[1:]:
        moved = op.GatherElements(key, places, axis=axis)
        places = op.GatherElements(places, _first_places(moved, axis, descending)[1], axis=axis)
    return places


def sort_keys(x: Field) -> list[TensorValue]:
    """Keys without NaN that give the order of elements, the last of which decides first."""
    dtype = dtype_of(x.re)
    if not dtype.is_float:
        return [converted(x.re, DType.UINT8) if dtype is DType.BOOL else x.re]
    holes = op.IsNaN(x.re)
    if x.im is not None:
        others = op.IsNaN(x.im)
        zero = like(0, x.re)
        twice = op.Mul(converted(holes, DType.INT32), np.int32(2))
        kind = op.Add(twice, converted(others, DType.INT32))
        return [op.Where(others, zero, x.im), op.Where(holes, zero, x.re), kind]
    if dtype is DType.DOUBLE:
        return [op.Where(holes, like(np.inf, x.re), x.re), converted(holes, DType.INT32)]
    # In doubles there is room between infinity and all numbers.
    wide = converted(x.re, DType.DOUBLE)
    infinite = np.float64(np.inf)
    wide = op.Where(op.Equal(wide, infinite), np.float64(_BEYOND), wide)
    return [op.Where(holes, infinite, wide)]


@algorithm
def order(x: Field, axis: int, *, descending: bool = False) -> TensorValue:
    """Where the elements stand that come first, second, …, along an axis."""
    return order_by(sort_keys(x), axis, descending=descending)


@algorithm
def ordered(x: Field, axis: int, *, descending: bool = False) -> Field:
    """The elements in order along an axis."""
    dtype = dtype_of(x.re)
    if not dtype.is_float:
        values = _first_places(sort_keys(x)[0], axis, descending)[0]
        return Field(converted(values, dtype))
    places = order(x, axis, descending=descending)
    return x.map(lambda part: op.GatherElements(part, places, axis=axis))


# -- distinct --------------------------------------------------------------------------------------------


class Groups(NamedTuple):
    """Distinct elements in order; where each stood first, which of them each element is, how often each stands."""

    values: Field
    first: TensorValue
    inverse: TensorValue
    counts: TensorValue


@algorithm
def distinct(x: Field, *, equal_nan: bool = True) -> Groups:
    """The distinct elements of a vector; all NaN are one, or each is another."""
    places = order(x, 0)
    rows = x.map(lambda part: op.Gather(part, places))
    is_new = differs_from_before(rows, equal_nan=equal_nan)
    values = rows.map(lambda part: op.Compress(part, is_new, axis=0))
    group = op.Sub(op.CumSum(converted(is_new, DType.INT64), np.int64(0)), np.int64(1))
    inverse = op.ScatterElements(places, places, group, axis=0)
    starts = flat(op.NonZero(is_new))
    next_one = op.Add(counted(size_of(starts, 0)), np.int64(1))
    has_next = op.Less(next_one, op.Size(starts))
    ends = op.Where(has_next, op.Gather(starts, op.Where(has_next, next_one, np.int64(0))), op.Size(is_new))
    return Groups(values, op.Compress(places, is_new, axis=0), inverse, op.Sub(ends, starts))


def differs_from_before(rows: Field, *, equal_nan: bool = True) -> TensorValue:
    """For each place of a vector, whether it is the first or other than the one before."""
    places = counted(size_of(rows.re, 0))
    before = op.Max(op.Sub(places, np.int64(1)), np.int64(0))
    earlier = rows.map(lambda part: op.Gather(part, before))
    changes = op.Not(op.Equal(rows.re, earlier.re))
    if rows.im is not None:
        changes = op.Or(changes, op.Not(op.Equal(rows.im, earlier.im)))
    if equal_nan and dtype_of(rows.re).is_float:
        changes = op.And(changes, op.Not(op.And(_is_nan(rows), _is_nan(earlier))))
    return op.Or(changes, op.Equal(places, np.int64(0)))


def differs_from_next(is_new: TensorValue) -> TensorValue:
    """For each place of a vector, whether it is the last or other than the one behind it, from what `is_new` says."""
    behind = op.Add(counted(size_of(is_new, 0)), np.int64(1))
    is_last = op.Equal(behind, op.Size(is_new))
    return op.Or(is_last, op.Gather(is_new, op.Where(is_last, np.int64(0), behind)))


def _is_nan(x: Field) -> TensorValue:
    holes = op.IsNaN(x.re)
    return holes if x.im is None else op.Or(holes, op.IsNaN(x.im))


# -- searching -------------------------------------------------------------------------------------------


@algorithm
def places_for(rows: TensorValue, values: TensorValue, *, right: bool) -> TensorValue:
    """Where values would go into an ordered vector: before equal ones, or, `right`, behind them. NaN is last."""
    if not dtype_of(rows).is_float:
        return search_sorted(rows, values, right=right)
    holes = op.ReduceSum(converted(op.IsNaN(rows), DType.INT64), [0], keepdims=1)
    length = op.Shape(rows)
    numbers = op.Sub(length, holes)
    found = search_sorted(op.Slice(rows, [0], numbers), values, right=right)
    behind = op.Squeeze(length if right else numbers, [0])
    return op.Where(op.IsNaN(values), behind, found)


@algorithm
def is_among(x: Field, others: Field) -> TensorValue:
    """Whether each element is equal to one of a vector."""
    if x.im is not None:
        assert others.im is not None, "both are of one element type"
        column = x.map(lambda part: op.Unsqueeze(part, [rank_of(x.re)]))
        equal = op.And(op.Equal(column.re, others.re), op.Equal(column.im, others.im))
        count = op.ReduceSum(converted(equal, DType.INT32), [rank_of(equal) - 1], keepdims=0)
        return op.Greater(count, np.int32(0))
    rows = ordered(others, 0).re
    place = places_for(rows, x.re, right=False)
    length = op.Shape(rows)
    # One more at the end, so that there is something at every place.
    padded = op.Concat(rows, like(0, rows).reshape(1), axis=0)
    equal = op.Equal(op.Gather(padded, place), x.re)
    return op.And(equal, op.Less(place, op.Squeeze(length, [0])))
