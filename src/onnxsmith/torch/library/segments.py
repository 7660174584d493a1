# pyright: basic
"""Reductions of segments: runs of places along a dimension, given by their lengths or their ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.algorithms.sorting import search_sorted
from onnxsmith.algorithms.values import counted
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axis_of, cast, expand, filled, int64s, rank_of
from onnxsmith.types.dtypes import DType

#: The reduction of `ScatterElements` and what it starts from.
REDUCTIONS = {
    "sum": ("add", 0.0),
    "mean": ("add", 0.0),
    "prod": ("mul", 1.0),
    "max": ("max", -np.inf),
    "min": ("min", np.inf),
}


@translates("aten.segment_reduce.default")
def segment_reduce(
    call: Call,
    x: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    if lengths is None and offsets is None:
        raise call.refuse("segments that are given by indices")
    # ONNX Runtime scatters halves, but does not reduce them.
    x = cast(x, DType.FLOAT) if x.dtype in (DType.FLOAT16, DType.BFLOAT16) else x
    axis, dtype = axis_of(axis, rank_of(x)), x.dtype
    ends = _offsets(call, lengths) if lengths is not None else cast(offsets, DType.INT64)
    count = call.output_shape()[axis]
    places = _segments(call, x, ends, axis, count)
    name, neutral = REDUCTIONS[reduce]
    start = neutral if initial is None else initial
    # One more segment takes what belongs to none.
    shape = [each + 1 if k == axis else each for k, each in enumerate(call.output_shape())]
    result = _scattered(x, places, filled(shape, start, dtype), axis, name)
    if reduce in ("max", "min"):
        holes = op.Where(op.IsNaN(x), x, cast(0, dtype))
        result = op.Add(result, _scattered(holes, places, filled(shape, 0, dtype), axis, "add"))
    result = op.Slice(result, [0], int64s([count]), [axis])
    return _divided(result, ends, axis, initial is None) if reduce == "mean" else result


def _offsets(call: Call, lengths: Any) -> Any:
    """Where segments start, and where the last one ends."""
    last = rank_of(lengths) - 1
    ends = op.CumSum(cast(lengths, DType.INT64), np.int64(last))
    zeros = filled([*call.shape_of(lengths)[:-1], 1], 0, DType.INT64)
    return op.Concat(zeros, ends, axis=last)


def _segments(call: Call, x: Any, ends: Any, axis: int, count: Any) -> Any:
    """The number of the segment that each element belongs to."""
    shape = call.shape_of(x)
    positions = expand(counted(shape[axis]), shape[: axis + 1])
    found = op.Sub(search_sorted(ends, positions, right=True), np.int64(1))
    found = op.Where(op.Less(found, np.int64(0)), cast(count, DType.INT64), found)
    extra = list(range(axis + 1, rank_of(x)))
    return expand(op.Unsqueeze(found, extra) if extra else found, shape)


def _scattered(x: Any, places: Any, start: Any, axis: int, reduction: str) -> Any:
    return op.ScatterElements(start, places, x, axis=axis, reduction=reduction)


def _divided(total: Any, ends: Any, axis: int, is_open: bool) -> Any:
    """Sums divided by how many elements each is of; of none, no number, or what was given to start from."""
    last = np.iinfo(np.int64).max
    lengths = op.Sub(op.Slice(ends, [1], [last], [axis]), op.Slice(ends, [0], [-1], [axis]))
    extra = list(range(axis + 1, rank_of(total)))
    lengths = cast(op.Unsqueeze(lengths, extra) if extra else lengths, total.dtype)
    return op.Div(total, lengths if is_open else op.Max(lengths, cast(1, total.dtype)))
