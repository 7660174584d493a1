"""Sums, products, extremes and truth over axes, of real and complex tensors, as exact as their element types allow.

Fractions of 16 and 32 bits are added and multiplied in wider ones: what a runtime adds up one by one loses digits.
Something that is no number is the greatest and the least of what it stands among. No axes leave every element alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, imaginary, joined, number, where
from onnxsmith.algorithms.complex_numbers.products import product_along
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    Size,
    cast,
    converted,
    dtype_of,
    int64s,
    like,
    product,
    rank_of,
    size_of,
    sizes_of,
)
from onnxsmith.core.value import TensorOrArray, TensorValue
from onnxsmith.types.dtypes import DType

#: Element types that sums are made in, where that is not their own.
_WIDER = {DType.FLOAT16: DType.FLOAT, DType.FLOAT: DType.DOUBLE}


#: Integers whose greatest and least are found in their own type.
_WITH_EXTREMES = (DType.INT32, DType.INT64, DType.UINT64)


def wider(dtype: DType) -> DType:
    """The element type that many numbers are added in."""
    return _WIDER.get(dtype, dtype)


def count_along(x: TensorValue, axes: Sequence[int]) -> Size:
    """How many elements stand along axes."""
    return product([size_of(x, axis) for axis in axes])


# -- axes as one -----------------------------------------------------------------------------------------


def collected(x: TensorValue, axes: Sequence[int]) -> TensorValue:
    """Axes moved to the end, as one; a new one of size 1 where there are none."""
    rank = rank_of(x)
    others = [k for k in range(rank) if k not in axes]
    if not axes:
        return op.Unsqueeze(x, [rank])
    if not others:
        return x if rank == 1 else op.Reshape(x, [-1])
    order = [*others, *axes]
    moved = x if order == list(range(rank)) else op.Transpose(x, perm=order)
    if len(axes) == 1:
        return moved
    sizes = sizes_of(x)
    count = product([sizes[k] for k in axes])
    return op.Reshape(moved, int64s([*(sizes[k] for k in others), count]), allowzero=1)


def with_axes(x: TensorValue, axes: Sequence[int], keepdims: bool) -> TensorValue:
    """What was made without axes, with them in their places as sizes of 1, if they are kept."""
    return op.Unsqueeze(x, sorted(axes)) if keepdims and axes else x


# -- sums and products -----------------------------------------------------------------------------------


def total(x: Field, axes: Sequence[int], keepdims: bool, *, is_long: bool = False) -> Field:
    """The sum, in the element type that is given. `is_long` where so much is added that it is done block by block."""
    if is_long and axes and x.dtype is DType.DOUBLE:
        return x.map(lambda part: with_axes(_sum_of_blocks(collected(part, axes)), axes, keepdims))
    return x.map(lambda part: _reduced("ReduceSum", part, axes, keepdims))


@algorithm
def total_of_whole(x: TensorValue, axes: Sequence[int], keepdims: bool) -> TensorValue:
    """The sum of integers of 64 bits, which wraps around: a product with ones.

    ONNX Runtime's ReduceSum adds them as doubles, and making that exact takes up to twelve times as long.
    """
    if not axes:
        return x
    rows = collected(x, axes)
    last = rank_of(rows) - 1
    # A column: there may be no rows, and those do not go with a vector.
    ones = op.Expand(like(1, x).reshape(1, 1), op.Concat(op.Shape(rows, start=last), np.array([1]), axis=0))
    if last == 0:
        rows = op.Unsqueeze(rows, [0])
    sums = op.Squeeze(op.MatMul(rows, ones), [0, 1] if last == 0 else [last])
    return with_axes(sums, axes, keepdims)


def total_product(x: Field, axes: Sequence[int], keepdims: bool, first: Field | None = None) -> Field:
    """The product, in the element type that is given, and of a scalar before all others if there is one."""
    if x.im is None:
        found = Field(_reduced("ReduceProd", x.re, axes, keepdims))
        return found if first is None else first * found
    last = rank_of(x.re) - len(axes)
    rows = x.cast(wider(x.dtype)).map(lambda part: collected(part, axes))
    begin = number(1) if first is None else first
    folded = product_along(with_first(rows, last, begin.cast(rows.dtype)), last).cast(x.dtype)
    return folded.map(lambda part: with_axes(part, axes, keepdims))


def _reduced(name: str, x: TensorValue, axes: Sequence[int], keepdims: bool) -> TensorValue:
    if not axes:
        return x
    dtype = dtype_of(x)
    sums = getattr(op, name)(converted(x, wider(dtype)), list(axes), keepdims=int(keepdims))
    return converted(sums, dtype)


def _sum_of_blocks(rows: TensorValue) -> TensorValue:
    """The sum along the last axis: of cubes of elements edge by edge, and of what is left.

    One long sum rounds as often as it has elements, and loses as many digits more.
    """
    axis = rank_of(rows) - 1
    length = op.Shape(rows, start=axis, end=axis + 1)
    edge = op.Pow(converted(length, DType.DOUBLE), np.array([1 / 3]))
    edge = op.Max(converted(op.Floor(edge), DType.INT64), np.array([1]))
    face = op.Mul(edge, edge)
    count = op.Div(length, face)
    whole = op.Mul(count, face)
    others = [op.Shape(rows, start=0, end=axis)] if axis else []
    cubes = op.Reshape(
        op.Slice(rows, [0], whole, [axis]), op.Concat(*others, count, edge, edge, axis=0), allowzero=1
    )
    for _ in range(3):
        cubes = op.ReduceSum(cubes, [rank_of(cubes) - 1], keepdims=0)
    return op.Add(cubes, op.ReduceSum(op.Slice(rows, whole, length, [axis]), [axis], keepdims=0))


def with_first(x: Field, axis: int, value: Field) -> Field:
    """A tensor with a scalar before all others along an axis."""
    rank = rank_of(x.re)
    before = [op.Shape(x.re, start=0, end=axis)] if axis else []
    behind = [op.Shape(x.re, start=axis + 1, end=rank)] if axis + 1 < rank else []
    shape = op.Concat(*before, np.array([1]), *behind, axis=0) if rank > 1 else np.array([1])
    return joined([alike(value, x).map(lambda part: op.Expand(part, shape)), x], axis)


# -- truth -----------------------------------------------------------------------------------------------


def any_true(x: TensorValue, axes: Sequence[int], keepdims: bool) -> TensorValue:
    """Whether any truth value is True; none of none."""
    if not axes:
        return x
    found = op.ReduceMax(converted(x, DType.UINT8), list(axes), keepdims=int(keepdims))
    return converted(found, DType.BOOL)


def all_true(x: TensorValue, axes: Sequence[int], keepdims: bool) -> TensorValue:
    """Whether all truth values are True; all of none."""
    if not axes:
        return x
    # The least of none is the largest number there is.
    found = op.ReduceMin(converted(x, DType.UINT8), list(axes), keepdims=int(keepdims))
    return converted(found, DType.BOOL)


# -- extremes --------------------------------------------------------------------------------------------


def lowest(dtype: DType) -> TensorOrArray:
    """What is not greater than anything of an element type."""
    if dtype.is_float:
        return cast(-np.inf, dtype)
    return np.asarray(np.iinfo(dtype.numpy).min if dtype is not DType.BOOL else False, dtype.numpy)


def highest(dtype: DType) -> TensorOrArray:
    """What is not less than anything of an element type."""
    if dtype.is_float:
        return cast(np.inf, dtype)
    return np.asarray(np.iinfo(dtype.numpy).max if dtype is not DType.BOOL else True, dtype.numpy)


@algorithm
def extreme(
    x: Field, axes: Sequence[int], keepdims: bool, *, is_max: bool, first: Field | None = None
) -> Field:
    """The greatest or least, of a scalar and of all others; complex numbers are in order of their real parts first."""
    if not axes:
        return x if first is None else better(first, x, is_max=is_max)
    if first is not None and x.dtype.is_integer and x.dtype not in _WITH_EXTREMES:
        # Of no elements the extreme is one of the type that is computed in, and that does not go into a narrower one.
        wide, start = x.cast(DType.INT64), first.cast(DType.INT64)
        return extreme(wide, axes, keepdims, is_max=is_max, first=start).cast(x.dtype)
    if x.im is not None:
        rows = x.map(lambda part: collected(part, axes))
        if first is not None:
            rows = with_first(rows, rank_of(x.re) - len(axes), first)
        place = extreme_place(rows, rank_of(x.re) - len(axes), is_max=is_max)
        taken = rows.map(lambda part: op.GatherElements(part, place, axis=rank_of(part) - 1))
        return taken.map(lambda part: with_axes(op.Squeeze(part, [rank_of(part) - 1]), axes, keepdims))
    dtype, part = dtype_of(x.re), x.re
    if dtype is DType.BOOL:
        found = (any_true if is_max else all_true)(part, axes, keepdims)
    else:
        found = (op.ReduceMax if is_max else op.ReduceMin)(part, list(axes), keepdims=int(keepdims))
    if dtype.is_float:
        found = op.Where(any_true(op.IsNaN(part), axes, keepdims), like(np.nan, part), found)
    return Field(found) if first is None else better(first, Field(found), is_max=is_max)


@algorithm
def extreme_place(x: Field, axis: int, *, is_max: bool) -> TensorValue:
    """Where the first greatest or least stands along an axis, which is kept; what is no number comes first."""
    find, reduce = (op.ArgMax, op.ReduceMax) if is_max else (op.ArgMin, op.ReduceMin)
    dtype = dtype_of(x.re)
    if not dtype.is_float:
        key = converted(x.re, DType.UINT8) if dtype is DType.BOOL else x.re
        return find(key, axis=axis, keepdims=1)
    worst = lowest(dtype) if is_max else highest(dtype)
    holes = x.is_nan()
    key = x.re
    if x.im is not None:
        best = reduce(op.Where(holes, worst, x.re), [axis], keepdims=1)
        is_best = op.And(op.Equal(x.re, best), op.Not(holes))
        # Those whose real part is not the best come behind those whose imaginary part is infinitely bad.
        return _first_hole_or(holes, _first_among(is_best, imaginary(x), axis, is_max=is_max), axis)
    return _first_hole_or(holes, find(op.Where(holes, worst, key), axis=axis, keepdims=1), axis)


def _first_among(chosen: TensorValue, key: TensorValue, axis: int, *, is_max: bool) -> TensorValue:
    """The first best of those that are chosen."""
    dtype = dtype_of(key)
    worst = lowest(dtype) if is_max else highest(dtype)
    reduce = op.ReduceMax if is_max else op.ReduceMin
    best = reduce(op.Where(chosen, key, worst), [axis], keepdims=1)
    found = op.And(chosen, op.Equal(key, best))
    return op.ArgMax(converted(found, DType.UINT8), axis=axis, keepdims=1)


def _first_hole_or(holes: TensorValue, place: TensorValue, axis: int) -> TensorValue:
    numbers = converted(holes, DType.UINT8)
    first = op.ArgMax(numbers, axis=axis, keepdims=1)
    return op.Where(any_true(holes, [axis], keepdims=True), first, place)


def better(x: Field, y: Field, *, is_max: bool) -> Field:
    """Of two the greater or the less, in the order of `extreme`; the first that is no number."""
    if dtype_of(x.re) is DType.BOOL:
        return Field((op.Or if is_max else op.And)(x.re, y.re))
    beats = op.Greater if is_max else op.Less
    takes_y = beats(y.re, x.re)
    if x.im is not None and y.im is not None:
        takes_y = op.Or(takes_y, op.And(op.Equal(x.re, y.re), beats(y.im, x.im)))
    if dtype_of(x.re).is_float:
        takes_y = op.And(op.Or(takes_y, y.is_nan()), op.Not(x.is_nan()))
    return where(takes_y, y, x)
