"""The greatest and the least over axes and where they stand, of real and complex tensors.

Something that is no number is the greatest and the least of what it stands among. Complex numbers are in the order of
their real parts, then of their imaginary ones. No axes leave every element alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, imaginary, where
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.reductions import all_true, any_true, collected, with_axes, with_first
from onnxsmith.algorithms.values import cast, converted, dtype_of, like, rank_of
from onnxsmith.types.dtypes import DType

#: Integers whose greatest and least are found in their own type.
_WITH_EXTREMES = (DType.INT32, DType.INT64, DType.UINT64)


def lowest(dtype: DType) -> TensorOrArray:
    """The lowest value of an element type."""
    if dtype.is_float:
        return cast(-np.inf, dtype)
    return np.asarray(np.iinfo(dtype.numpy).min if dtype is not DType.BOOL else False, dtype.numpy)


def highest(dtype: DType) -> TensorOrArray:
    """The highest value of an element type."""
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
        rows = x.map(collected, axes)
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
def extreme_place(x: Field, axis: int, *, is_max: bool) -> Tensor:
    """Where the first greatest or least stands along an axis, which is kept; what is no number comes first."""
    find, reduce = (op.ArgMax, op.ReduceMax) if is_max else (op.ArgMin, op.ReduceMin)
    dtype = dtype_of(x.re)
    if not dtype.is_float:
        key = converted(x.re, DType.UINT8) if dtype is DType.BOOL else x.re
        return find(key, axis=axis, keepdims=1)
    holes = x.is_nan()
    if x.im is None:
        # What is found where there are holes does not matter: the first of them is the place.
        return _first_hole_or(holes, find(x.re, axis=axis, keepdims=1), axis)
    worst = lowest(dtype) if is_max else highest(dtype)
    best = reduce(op.Where(holes, worst, x.re), [axis], keepdims=1)
    is_best = op.Equal(x.re, best) & ~holes
    # Those whose real part is not the best come behind those whose imaginary part is infinitely bad.
    return _first_hole_or(holes, _first_among(is_best, imaginary(x), axis, is_max=is_max), axis)


def _first_among(chosen: Tensor, key: Tensor, axis: int, *, is_max: bool) -> Tensor:
    """The first best of those that are chosen."""
    dtype = dtype_of(key)
    worst = lowest(dtype) if is_max else highest(dtype)
    reduce = op.ReduceMax if is_max else op.ReduceMin
    best = reduce(op.Where(chosen, key, worst), [axis], keepdims=1)
    found = chosen & op.Equal(key, best)
    return op.ArgMax(converted(found, DType.UINT8), axis=axis, keepdims=1)


def _first_hole_or(holes: Tensor, place: Tensor, axis: int) -> Tensor:
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
        takes_y = takes_y | op.Equal(x.re, y.re) & beats(y.im, x.im)
    if dtype_of(x.re).is_float:
        takes_y = (takes_y | y.is_nan()) & ~x.is_nan()
    return where(takes_y, y, x)
