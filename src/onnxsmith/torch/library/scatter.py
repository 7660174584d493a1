# pyright: basic
"""Writing elements into a copy: slices, single positions, index tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axis_of, cast, constant, expand, int64s, rank_of
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
NO_END = 9223372036854775807


def _written(call: Call, x: Any, positions: Any, source: Any, axis: int) -> Any:
    """A copy of `x` in which the positions along an axis hold what `source` has there."""
    rank = rank_of(x)
    column = op.Reshape(positions, [-1 if k == axis else 1 for k in range(rank)])
    return op.ScatterElements(x, expand(column, call.shape_of(source)), source, axis=axis)


@translates("aten.slice_scatter.default", lifts=("x", "source"))
def slice_scatter(
    call: Call, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    axis = axis_of(dim, rank_of(x))
    size = call.size(x, axis)
    count = (
        constant(np.arange(size))
        if isinstance(size, int)
        else op.Range(np.int64(0), cast(size, DType.INT64), np.int64(1))
    )
    first, last = 0 if start is None else start, NO_END if end is None else end
    positions = op.Slice(count, int64s([first]), int64s([last]), np.array([0]), np.array([step]))
    return _written(call, x, positions, cast(source, call.dtype), axis)


@translates("aten.select_scatter.default", lifts=("x", "source"))
def select_scatter(call: Call, x: Any, source: Any, dim: int, index: Any) -> Any:
    axis = axis_of(dim, rank_of(x))
    return _written(call, x, int64s([index]), op.Unsqueeze(cast(source, call.dtype), [axis]), axis)
