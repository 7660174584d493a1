"""Running sums, products and extremes along a dimension."""

from __future__ import annotations

import torch

from onnxsmith.algorithms import cumulative
from onnxsmith.algorithms.values import axis_of, converted, rank_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Results
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.sorting import alone
from onnxsmith.types.dtypes import DType


@translates("aten.cumsum.default")
def cumsum(call: Call, x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    x = converted(x, call.dtype)
    return cumulative.cumsum(x, axis_of(dim, rank_of(x))) if rank_of(x) else x


@translates("aten.cumprod.default")
def cumprod(call: Call, x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    x = converted(x, call.dtype)
    return cumulative.cumprod(x, axis_of(dim, rank_of(x))) if rank_of(x) else x


@translates("aten.cummax.default", "aten.cummin.default")
def cumulative_extreme(call: Call, x: Tensor, dim: int) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    extreme = cumulative.cummax if call.overload == "aten.cummax.default" else cumulative.cummin
    return extreme(x, axis_of(dim, rank_of(x)))


@translates("aten.logcumsumexp.default")
def logcumsumexp(call: Call, x: Tensor, dim: int) -> Tensor:
    dtype = call.dtype
    if rank_of(x) == 0:
        return converted(x, dtype)
    x = converted(x, DType.FLOAT if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype)
    return cumulative.logcumsumexp(x, axis_of(dim, rank_of(x)))
