"""Sorting, searching in what is sorted, and distinct values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.loops import repeat, several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    Size,
    as_tensor,
    cast,
    converted,
    dtype_of,
    flat,
    int64s,
    rank_of,
    size_of,
    sizes_of,
)
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
_END = np.iinfo(np.int64).max


def sort_key(x: TensorValue) -> TensorValue:
    """What to sort by: what is no number comes after everything, which ONNX Runtime leaves open.

    The largest number and infinity become equal; their order is kept.
    """
    dtype = dtype_of(x)
    if not dtype.is_float:
        return x
    largest = np.finfo(np.float32 if dtype is DType.BFLOAT16 else dtype.numpy).max
    return op.Where(op.IsNaN(x), cast(np.inf, dtype), op.Min(x, cast(largest, dtype)))


@algorithm
def sort(
    x: TensorValue, axis: int, *, descending: bool = False, count: Size | None = None
) -> tuple[TensorValue, TensorValue]:
    """The values in order, and where they stood; equal ones stay in their order. The first `count` if given."""
    count = size_of(x, axis) if count is None else count
    # ONNX says that of equal values the one with the lower index comes first.
    values, places = several(
        op.TopK, sort_key(x), int64s([count]), outputs=2, axis=axis, largest=int(descending)
    )
    return op.GatherElements(x, places, axis=axis) if dtype_of(x).is_float else values, places


def topk(
    x: TensorValue, count: Size, axis: int, *, largest: bool = True, is_sorted: bool = True
) -> tuple[TensorValue, TensorValue]:
    """The `count` largest or smallest values, and where they stood."""
    values, places = several(
        op.TopK, x, int64s([count]), outputs=2, axis=axis, largest=int(largest), sorted=int(is_sorted)
    )
    return values, places


@algorithm
def kth_value(x: TensorValue, k: Size, axis: int) -> tuple[TensorValue, TensorValue]:
    """The value that is number `k` in order, counted from 1, and where it stood; the axis is kept."""
    values, places = sort(x, axis, count=k)
    return op.Slice(values, [-1], [_END], [axis]), op.Slice(places, [-1], [_END], [axis])


# -- searching -----------------------------------------------------------------------------------------


@algorithm
def search_sorted(sequence: TensorValue, values: TensorValue, *, right: bool = False) -> TensorValue:
    """How many of a sorted sequence (along its last dimension) are less than each value, or, `right`, not greater.

    By bisection, in as many rounds as the logarithm of the length. A sequence of several dimensions has those of the
    values but for the last.
    """
    if dtype_of(sequence) is DType.BOOL:
        sequence, values = converted(sequence, DType.UINT8), converted(values, DType.UINT8)
    axis = rank_of(sequence) - 1
    length = cast(size_of(sequence, axis), DType.INT64)
    shape = op.Shape(values)
    low = op.Expand(np.int64(0), shape)
    high = op.Expand(length, shape)

    def body(
        i: TensorValue, keep: TensorValue, remaining: TensorValue, low: TensorValue, high: TensorValue
    ) -> tuple[TensorValue, ...]:
        middle = op.Div(op.Add(low, high), np.int64(2))
        place = op.Min(middle, op.Sub(length, np.int64(1)))
        found = op.Gather(sequence, place) if axis == 0 else op.GatherElements(sequence, place, axis=axis)
        compare = op.Greater if right else op.GreaterOrEqual
        goes_left = op.Or(compare(found, values), op.GreaterOrEqual(low, high))
        low = op.Where(goes_left, low, op.Add(middle, np.int64(1)))
        high = op.Where(goes_left, middle, high)
        remaining = op.Div(remaining, np.int64(2))
        return op.Greater(remaining, np.int64(0)), remaining, low, high

    begins = op.Greater(as_tensor(length, DType.INT64), np.int64(0))
    return repeat(begins, [length, low, high], body)[1]


@algorithm
def is_in(elements: TensorValue, among: TensorValue) -> TensorValue:
    """Whether each element is equal to one of others."""
    rank = rank_of(elements)
    is_equal = op.Equal(op.Unsqueeze(elements, [rank]), flat(among))
    # A sum, since the largest of nothing is not zero.
    return op.Greater(op.ReduceSum(cast(is_equal, DType.INT32), [rank], keepdims=0), np.int32(0))


# -- distinct values -----------------------------------------------------------------------------------


class Distinct(NamedTuple):
    """Values that differ, where each stood first, which of them each given one is, and how often each was given."""

    values: TensorValue
    first: TensorValue
    inverse: TensorValue
    counts: TensorValue


def unique(x: TensorValue, axis: int | None = None) -> Distinct:
    """The distinct elements in order, or the distinct slices across an axis; the inverse is a vector."""
    if axis is None:
        return Distinct(*several(op.Unique, flat(x), outputs=4, sorted=1))
    return Distinct(*several(op.Unique, x, outputs=4, axis=axis, sorted=1))


@algorithm
def unique_consecutive(x: TensorValue, axis: int | None = None) -> Distinct:
    """The elements, or slices across an axis, that differ from the one before; the inverse is a vector."""
    rows, axis = (flat(x), 0) if axis is None else (x, axis)
    is_new = _differs_from_before(rows, axis)
    values = op.Compress(rows, is_new, axis=axis)
    inverse = op.Sub(op.CumSum(cast(is_new, DType.INT64), np.int64(0)), np.int64(1))
    starts = flat(op.NonZero(is_new))
    ends = op.Concat(op.Slice(starts, [1], [_END]), op.Shape(is_new), axis=0)
    # Nothing has no starts, but its length is an end.
    ends = op.Slice(ends, [0], op.Shape(starts))
    return Distinct(values, starts, inverse, op.Sub(ends, starts))


def shaped_like(inverse: TensorValue, x: TensorValue) -> TensorValue:
    """An inverse in the shape of what was given."""
    return op.Reshape(inverse, int64s(sizes_of(x)), allowzero=1)


def _differs_from_before(rows: TensorValue, axis: int) -> TensorValue:
    """For each place along an axis, whether it is the first or other than the one before."""
    later, earlier = op.Slice(rows, [1], [_END], [axis]), op.Slice(rows, [0], [-1], [axis])
    changes = op.Not(op.Equal(later, earlier))
    others = [k for k in range(rank_of(rows)) if k != axis]
    if others:
        total = op.ReduceSum(cast(changes, DType.INT32), others, keepdims=0)
        changes = op.Greater(total, np.int32(0))
    first = op.Concat(np.ones(1, np.bool_), changes, axis=0)
    return op.Slice(first, [0], op.Shape(rows, start=axis, end=axis + 1))
