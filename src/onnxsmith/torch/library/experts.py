"""Products of groups of rows with a matrix for each group: what mixtures of experts are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from onnxsmith.algorithms.loops import loop, several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, filled, int64s, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Up to so many groups each has nodes of its own, which ONNX Runtime runs fastest; more go through a loop.
_UNROLLED = 32


@translates("transformers.grouped_mm_fallback.default")
def grouped_rows(call: Call, x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    """Rows up to the first end times the first matrix, and so on; zeros for rows behind the last end."""
    ends = cast(ends, DType.INT64)
    count, width = call.size(weight, 0), call.size(weight, 2)
    if isinstance(count, int) and 0 < count <= _UNROLLED:
        made = _unrolled(call, x, weight, ends, count, width)
    else:
        made = _looped(call, x, weight, ends, count, width)
    rest = op.Sub(cast(call.size(x, 0), DType.INT64), op.Gather(ends, np.int64(-1), axis=0))
    shape = op.Concat(op.Unsqueeze(rest, [0]), int64s([width]), axis=0)
    return op.Concat(*made, op.Expand(cast(0, call.dtype), shape), axis=0)


def _unrolled(call: Call, x: Tensor, weight: Tensor, ends: Tensor, count: int, width: Size) -> list[Tensor]:
    sizes = ends - op.Concat(np.zeros(1, np.int64), op.Slice(ends, [0], [-1], [0]), axis=0)
    rest = op.Sub(int64s([call.size(x, 0)]), op.Slice(ends, [-1], [count], [0]))
    rows = several(op.Split, x, op.Concat(sizes, rest, axis=0), axis=0, outputs=count + 1)
    return [op.MatMul(rows[k], op.Gather(weight, np.int64(k), axis=0)) for k in range(count)]


def _looped(call: Call, x: Tensor, weight: Tensor, ends: Tensor, count: Size, width: Size) -> list[Tensor]:
    starts = op.Concat(np.zeros(1, np.int64), ends, axis=0)

    def body(index: Tensor, keep: Tensor, made: Tensor) -> tuple[Tensor, Tensor]:
        place = op.Unsqueeze(index, [0])
        start, end = op.Gather(starts, place, axis=0), op.Gather(ends, place, axis=0)

        def grown() -> Tensor:
            rows = op.Slice(x, start, end, [0])
            return op.Concat(made, op.MatMul(rows, op.Gather(weight, index, axis=0)), axis=0)

        # An expert without rows does not have its matrix copied.
        has_rows = op.Squeeze(start < end, [0])
        branches: dict[str, Any] = {"then_branch": grown, "else_branch": lambda: op.Identity(made)}
        return keep, op.If(has_rows, **branches)  # functions are attributes only where they are called

    return list(loop(count, [filled([0, width], 0, call.dtype)], body))


@translates("aten._grouped_mm.default")
def grouped_mm(
    call: Call,
    x: Tensor,
    y: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Translated:
    if bias is not None:
        raise call.refuse("a bias")
    if offs is None:
        return op.MatMul(x, y)
    if rank_of(x) == 2 and rank_of(y) == 3:
        return grouped_rows(call, x, y, offs)
    if rank_of(x) == 3:  # groups of columns: the same of the transposed
        columns, weight = op.Transpose(y, perm=[1, 0]), op.Transpose(x, perm=[0, 2, 1])
        return op.Transpose(grouped_rows(call, columns, weight, offs), perm=[1, 0])
    raise call.refuse("groups of the dimension that is added up")
