"""Distinct elements, distinct slices, and runs of equal ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.sorting import END, order
from onnxsmith.algorithms.values import converted, counted, dtype_of, flat, int64s, size_of, sizes_of
from onnxsmith.types.dtypes import DType


class Groups(NamedTuple):
    """The distinct values; the first place of each, the index of each given one among them, and the counts."""

    values: Field
    first: Tensor
    inverse: Tensor
    counts: Tensor


@algorithm
def distinct(x: Field, *, equal_nan: bool = True) -> Groups:
    """The distinct elements of a vector, in order; all NaN are one, or each is another.

    Not ONNX's `Unique`: ONNX Runtime's takes NaN for equal to everything, and more than twice as long.
    """
    places = order(x, 0)
    rows = x.map(op.Gather, places)
    is_new = differs_from_before(rows, equal_nan=equal_nan)
    values = rows.map(op.Compress, is_new, axis=0)
    group, counts, _ = _runs(is_new)
    inverse = op.ScatterElements(places, places, group, axis=0)
    return Groups(values, op.Compress(places, is_new, axis=0), inverse, counts)


@algorithm
def distinct_slices(x: Field, axis: int) -> Groups:
    """The distinct slices across an axis, in the order of their elements. Every NaN is one of its own, and last."""
    key = x.re
    if x.dtype.is_float:
        # ONNX Runtime's Unique loses slices beside NaN, which compares with nothing: ranks take its place.
        ranks = distinct(x.map(flat), equal_nan=False).inverse
        key = op.Reshape(ranks, op.Shape(x.re), allowzero=1)
    if dtype_of(key) is DType.BOOL:
        key = converted(key, DType.UINT8)
    _, first, inverse, counts = several(op.Unique, key, outputs=4, axis=axis, sorted=1)
    return Groups(x.map(op.Gather, first, axis=axis), first, inverse, counts)


@algorithm
def runs(x: Tensor, axis: int | None = None) -> Groups:
    """The elements in a row, or slices across an axis, that differ from the one before. Every NaN does."""
    rows, axis = (flat(x), 0) if axis is None else (x, axis)
    is_new = differs_from_before(Field(rows), axis, equal_nan=False)
    group, counts, starts = _runs(is_new)
    return Groups(Field(op.Compress(rows, is_new, axis=axis)), starts, group, counts)


def differs_from_before(rows: Field, axis: int = 0, *, equal_nan: bool = True) -> Tensor:
    """For each place along an axis, whether it is the first or other than the one before."""
    later = rows.map(op.Slice, [1], [END], [axis])
    earlier = rows.map(op.Slice, [0], [-1], [axis])
    changes = ~op.Equal(later.re, earlier.re)
    if rows.im is not None:
        changes = changes | ~op.Equal(later.im, earlier.im)
    if equal_nan and rows.dtype.is_float:
        changes = changes & ~(later.is_nan() & earlier.is_nan())
    others = [k for k in range(rows.rank) if k != axis]
    if others:
        total = op.ReduceSum(converted(changes, DType.INT32), others, keepdims=0)
        changes = total > np.int32(0)
    first = op.Concat(np.ones(1, np.bool_), changes, axis=0)
    # Nothing has no first one.
    return op.Slice(first, [0], op.Shape(rows.re, start=axis, end=axis + 1))


def differs_from_next(is_new: Tensor) -> Tensor:
    """For each place of a vector, whether it is the last or other than the one behind it, from what `is_new` says."""
    behind = counted(size_of(is_new, 0)) + 1
    is_last = op.Equal(behind, op.Size(is_new))
    return is_last | op.Gather(is_new, op.Where(is_last, np.int64(0), behind))


def _runs(is_new: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of a vector in which every run has a mark at its start: which run each place is in, their lengths and starts."""
    group = op.CumSum(converted(is_new, DType.INT64), np.int64(0)) - 1
    starts = flat(op.NonZero(is_new))
    ends = op.Concat(op.Slice(starts, [1], [END]), op.Shape(is_new), axis=0)
    # Nothing has no starts, but its length is an end.
    ends = op.Slice(ends, [0], op.Shape(starts))
    return group, ends - starts, starts


def shaped_like(inverse: Tensor, x: Tensor) -> Tensor:
    """An inverse in the shape of what was given."""
    return op.Reshape(inverse, int64s(sizes_of(x)), allowzero=1)
