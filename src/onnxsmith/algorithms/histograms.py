"""How many elements fall into each bin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.searching import search_sorted
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    as_column,
    as_tensor,
    cast,
    constant,
    converted,
    dtype_of,
    filled,
    flat,
    has_zero,
    size_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType


@algorithm
def bincount(
    x: Tensor, weights: Tensor | None = None, least: Size = 0, *, dtype: DType = DType.INT64
) -> Tensor:
    """How often each whole number from 0 on stands in a vector, or the sums of the weights there; in `dtype`.

    The result has as many elements as the greatest number asks for, and as `least` says.
    """
    x = converted(x, DType.INT64)
    most = op.ReduceMax(op.Concat(x, np.array([-1]), axis=0), keepdims=0)
    length = op.Max(most + 1, cast(least, DType.INT64))
    zeros = op.Expand(cast(0, dtype), op.Reshape(length, [1]))
    ones = filled(sizes_of(x), 1, dtype) if weights is None else converted(weights, dtype)
    return op.ScatterElements(zeros, x, ones, axis=0, reduction="add")


def _ends(x: Tensor, ends: tuple[Numeric, Numeric] | None, margin: float) -> tuple[Tensor, Tensor]:
    """The ends of the bins: those given, or the data's extremes, and something around a single value."""
    dtype = dtype_of(x)
    if ends is None:
        given = constant(np.zeros(1, dtype.numpy)) if has_zero(sizes_of(x)) else flat(x)
        low, high = op.ReduceMin(given, [0], keepdims=0), op.ReduceMax(given, [0], keepdims=0)
    else:
        low, high = as_tensor(ends[0], dtype), as_tensor(ends[1], dtype)
        if ends[0] != ends[1]:
            return low, high
    is_point = op.Equal(low, high)
    step = op.Where(is_point, cast(margin, dtype), cast(0, dtype))
    return low - step, high + step


@algorithm
def counts_of_equal_bins(x: Tensor, bins: int, ends: tuple[Numeric, Numeric] | None = None) -> Tensor:
    """How many elements fall into each of equal bins between two ends; without them, between the extremes."""
    dtype = dtype_of(x)
    x = flat(x)
    low, high = _ends(x, ends, margin=1.0)
    scaled = op.Div(x - low, high - low) * cast(bins, dtype)
    place = op.Min(converted(op.Floor(scaled), DType.INT64), np.int64(bins - 1))
    is_inside = (x >= low) & (x <= high)
    return _counted(place, is_inside, bins, None, dtype)


def _counted(place: Tensor, is_inside: Tensor, bins: int, weight: Tensor | None, dtype: DType) -> Tensor:
    """How much falls into each bin; what is outside goes to one more, which is dropped."""
    place = op.Where(is_inside, place, bins)
    # ONNX Runtime adds up no halves; the result is cast.
    dtype = DType.FLOAT if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype
    each = filled(sizes_of(place), 1, dtype) if weight is None else flat(converted(weight, dtype))
    zeros = np.zeros(bins + 1, dtype.numpy)
    total = op.ScatterElements(constant(zeros), place, each, axis=0, reduction="add")
    return op.Slice(total, [0], [bins], [0])


@algorithm
def equal_edges(x: Tensor, bins: int, ends: tuple[Numeric, Numeric] | None = None) -> Tensor:
    """The edges of equal bins between two ends; without them, between the extremes of the data."""
    dtype = dtype_of(x)
    if ends is None and has_zero(sizes_of(x)):
        ends = (0.0, 1.0)
    low, high = _ends(x, ends, margin=0.5)
    step = op.Div(high - low, cast(bins, dtype))
    ramp = np.arange(bins + 1, dtype=dtype.numpy)
    # From either end, so that both ends are exact.
    from_low = low + op.Mul(ramp, step)
    from_high = high - ramp[::-1].copy() * step
    return op.Where(np.arange(bins + 1) < (bins + 1) // 2, from_low, from_high)


@algorithm(by_size=True)
def histogram(
    x: Tensor,
    edges: Sequence[Tensor],
    weight: Tensor | None = None,
    *,
    density: bool = False,
    dtype: DType | None = None,
) -> Tensor:
    """Points (the last dimension of `x` holds their coordinates) counted in bins between edges, whose number is known.

    The counts, or sums of weights, are in `dtype`; without one, in that of the points.
    """
    dtype = dtype_of(x) if dtype is None else dtype
    points = op.Reshape(x, [-1, len(edges)])
    bins = [_count(each) - 1 for each in edges]
    place, is_inside = _place(points, 0, edges[0], bins[0])
    for k, each in enumerate(edges[1:], 1):
        found, fits = _place(points, k, each, bins[k])
        place = place * bins[k] + found
        is_inside = is_inside & fits
    result = _counted(place, is_inside, int(np.prod(bins)), weight, dtype)
    result = op.Reshape(result, bins)
    return _as_density(result, edges) if density else result


def _place(points: Tensor, k: int, edges: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    """The bin of one coordinate of each point, and whether there is one."""
    column = op.Gather(points, np.int64(k), axis=1)
    found = search_sorted(edges, column, right=True) - 1
    last = op.Gather(edges, np.int64(bins), axis=0)
    fits = (found >= 0) & (column <= last)
    return op.Min(found, np.int64(bins - 1)), fits


def _count(edges: Tensor) -> int:
    size = size_of(edges, 0)
    assert isinstance(size, int), "a histogram is recorded for edges whose number is known"
    return size


def _as_density(counts: Tensor, edges: Sequence[Tensor]) -> Tensor:
    result = op.Div(counts, op.ReduceSum(counts, keepdims=0))
    for k, each in enumerate(edges):
        width = op.Slice(each, [1], [np.iinfo(np.int64).max]) - op.Slice(each, [0], [-1])
        result = op.Div(result, as_column(width, k, len(edges)))
    return result
