"""Reductions of segments: runs of places along a dimension, given by their lengths or their ends."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.searching import search_sorted
from onnxsmith.algorithms.values import (
    Size,
    cast,
    converted,
    counted,
    dtype_of,
    expand,
    filled,
    int64s,
    rank_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType

Reduction: TypeAlias = Literal["sum", "mean", "prod", "max", "min"]

#: The reduction of `ScatterElements` and what it starts from.
_REDUCTIONS: dict[Reduction, tuple[str, float]] = {
    "sum": ("add", 0.0),
    "mean": ("add", 0.0),
    "prod": ("mul", 1.0),
    "max": ("max", -np.inf),
    "min": ("min", np.inf),
}


def offsets_of(lengths: Tensor) -> Tensor:
    """Where segments start, and where the last one ends."""
    last = rank_of(lengths) - 1
    ends = op.CumSum(converted(lengths, DType.INT64), np.int64(last))
    zeros = filled([*sizes_of(lengths)[:-1], 1], 0, DType.INT64)
    return op.Concat(zeros, ends, axis=last)


def reduced(
    x: Tensor,
    ends: Tensor,
    axis: int,
    count: Size,
    reduction: Reduction,
    initial: float | None = None,
) -> Tensor:
    """The reduction of each of `count` segments along an axis; of one without elements, `initial`."""
    places = _segments(x, ends, axis, count)
    name, neutral = _REDUCTIONS[reduction]
    start = neutral if initial is None else initial
    # One more segment takes what belongs to none.
    sizes = sizes_of(x)
    shape = [*sizes[:axis], count + 1, *sizes[axis + 1 :]]
    dtype = dtype_of(x)
    result = _scattered(x, places, filled(shape, start, dtype), axis, name)
    if reduction in ("max", "min"):
        holes = op.Where(op.IsNaN(x), x, 0)
        result = result + _scattered(holes, places, filled(shape, 0, dtype), axis, "add")
    result = op.Slice(result, [0], int64s([count]), [axis])
    return _divided(result, ends, axis, initial is None) if reduction == "mean" else result


def _segments(x: Tensor, ends: Tensor, axis: int, count: Size) -> Tensor:
    """The number of the segment that each element belongs to."""
    shape = sizes_of(x)
    positions = expand(counted(shape[axis]), shape[: axis + 1])
    found = search_sorted(ends, positions, right=True) - 1
    found = op.Where(found < 0, cast(count, DType.INT64), found)
    extra = list(range(axis + 1, rank_of(x)))
    return expand(op.Unsqueeze(found, extra) if extra else found, shape)


def _scattered(x: Tensor, places: Tensor, start: Tensor, axis: int, reduction: str) -> Tensor:
    return op.ScatterElements(start, places, x, axis=axis, reduction=reduction)


def _divided(total: Tensor, ends: Tensor, axis: int, is_open: bool) -> Tensor:
    """Sums divided by how many elements each is of; of none, no number, or what was given to start from."""
    last = np.iinfo(np.int64).max
    lengths = op.Slice(ends, [1], [last], [axis]) - op.Slice(ends, [0], [-1], [axis])
    extra = list(range(axis + 1, rank_of(total)))
    lengths = converted(op.Unsqueeze(lengths, extra) if extra else lengths, dtype_of(total))
    return op.Div(total, lengths if is_open else op.Max(lengths, 1))
