"""Medians that are elements, and modes, along an axis, with their places. `quantiles` has what lies between two."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.cumulative import running
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.sorting import sort
from onnxsmith.algorithms.values import (
    as_column,
    cast,
    converted,
    counted,
    dtype_of,
    int64s,
    rank_of,
    size_of,
)
from onnxsmith.types.dtypes import DType


@algorithm
def median(x: Tensor, axis: int, *, ignores_nan: bool = False) -> tuple[Tensor, Tensor]:
    """The median along an axis, the lower one of two, and where it stands; the axis is kept.

    Where there is something that is no number, so is the median, and it stands at the first such place; unless that is
    ignored.
    """
    values, places = sort(x, axis)
    is_nan = op.IsNaN(x) if dtype_of(x).is_float else None
    size = size_of(x, axis)
    middle = cast((size - 1) // 2, DType.INT64)
    if is_nan is None:
        at = int64s([(size - 1) // 2])
        return op.Gather(values, at, axis=axis), op.Gather(places, at, axis=axis)
    holes = op.ReduceSum(converted(is_nan, DType.INT64), [axis], keepdims=1)
    if ignores_nan:
        last = op.Sub(cast(size, DType.INT64), holes) - 1
        at = op.Div(op.Max(last, np.int64(0)), np.int64(2))
    else:
        # What is no number stands at the end, in order; the first of it is the median of all.
        first_hole = op.Sub(cast(size, DType.INT64), holes)
        at = op.Where(holes > 0, first_hole, middle)
    return op.GatherElements(values, at, axis=axis), op.GatherElements(places, at, axis=axis)


@algorithm
def mode(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The most frequent value along an axis, the least of several, and its last place; the axis is kept."""
    values, places = sort(x, axis)
    indices = counted(size_of(x, axis))
    column = as_column(indices, axis, rank_of(x))
    before = op.Gather(values, op.Max(indices - 1, 0), axis=axis)
    is_start = ~op.Equal(values, before) | op.Equal(column, np.int64(0))
    starts = op.Where(is_start, column, np.int64(0))
    starts = running([starts], axis, lambda a, b: [op.Max(a[0], b[0])])[0]
    at = op.ArgMax(column - starts, axis=axis, keepdims=1)  # the first of the longest runs ends there
    return op.GatherElements(values, at, axis=axis), op.GatherElements(places, at, axis=axis)
