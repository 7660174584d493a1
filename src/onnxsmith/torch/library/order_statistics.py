"""Medians, quantiles and modes."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import order_statistics, quantiles
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Numeric,
    as_tensor,
    axis_of,
    cast,
    dtype_of,
    flat,
    has_zero,
    rank_of,
    sizes_of,
)
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Results
from onnxsmith.torch.library.marks import with_formula
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.sorting import alone


def _settled(results: tuple[Tensor, ...], axis: int, keepdim: bool) -> Results:
    """Results whose axis has one place, with or without it."""
    return results if keepdim else [op.Squeeze(each, [axis]) for each in results]


@translates("aten.median.default", "aten.nanmedian.default")
def median(call: Call, x: Tensor) -> Tensor | float:
    ignores_nan = call.overload == "aten.nanmedian.default"
    if has_zero(sizes_of(x)):
        return np.nan if dtype_of(x).is_float else int(np.iinfo(dtype_of(x).numpy).min)
    result = op.Squeeze(order_statistics.median(flat(x), 0, ignores_nan=ignores_nan)[0], [0])
    if not dtype_of(x).is_float:
        return result

    def formula(g: Tensor) -> list[Tensor]:
        """Equal elements share the cotangent."""
        is_middle = cast(op.Equal(x, result), dtype_of(g))
        return [op.Mul(is_middle, op.Div(g, op.ReduceSum(is_middle, keepdims=0)))]

    return with_formula([result], [x], formula)[0]


@translates("aten.median.dim", "aten.nanmedian.dim")
def median_dim(call: Call, x: Tensor, dim: int, keepdim: bool = False) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    axis = axis_of(dim, rank_of(x))
    both = order_statistics.median(x, axis, ignores_nan=call.overload == "aten.nanmedian.dim")
    return _settled(both, axis, keepdim)


@translates("aten.mode.default")
def mode(call: Call, x: Tensor, dim: int = -1, keepdim: bool = False) -> Results:
    if rank_of(x) == 0:
        return alone(x)
    axis = axis_of(dim, rank_of(x))
    return _settled(order_statistics.mode(x, axis), axis, keepdim)


# -- quantiles -----------------------------------------------------------------------------------------


@translates(
    "aten.quantile.default", "aten.nanquantile.default", "aten.quantile.scalar", "aten.nanquantile.scalar"
)
def quantile(
    call: Call,
    x: Tensor,
    q: Numeric,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    rank = rank_of(x)
    q = as_tensor(q, dtype_of(x))
    rows = flat(x) if dim is None or rank == 0 else _with_last(x, axis_of(dim, rank))
    ignores_nan = call.overload.startswith("aten.nanquantile")
    result = quantiles.quantile(rows, flat(q), interpolation, ignores_nan=ignores_nan, takes_next=False)
    return _placed(result, q, dim, rank, keepdim)


def _with_last(x: Tensor, axis: int) -> Tensor:
    """A tensor with an axis moved to the end."""
    rank = rank_of(x)
    order = [k for k in range(rank) if k != axis] + [axis]
    return x if axis == rank - 1 else op.Transpose(x, perm=order)


def _placed(result: Tensor, q: Tensor, dim: int | None, rank: int, keepdim: bool) -> Tensor:
    """Quantiles, which stand last, moved to the front, or dropped for a single one."""
    last = rank_of(result) - 1
    if rank_of(q) == 0:
        result, start = op.Squeeze(result, [last]), 0
    else:
        result = op.Transpose(result, perm=[last, *range(last)]) if last else result
        start = 1
    if keepdim and rank:
        axes = range(rank) if dim is None else [axis_of(dim, rank)]
        result = op.Unsqueeze(result, [start + each for each in axes])
    return result
