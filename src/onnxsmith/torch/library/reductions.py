# pyright: basic
"""Sums, means and extremes along dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axes_of, axis_of, cast, rank_of
from onnxsmith.types.dtypes import DType


def reduce(name: str, x: Any, dims: Any, keepdim: bool) -> Any:
    """A reduction over dimensions, all for None."""
    rank = rank_of(x)
    if rank == 0:
        return x
    axes = axes_of(dims, rank)
    return getattr(op, name)(x, np.array(axes, np.int64), keepdims=int(keepdim))


@translates("aten.sum.default")
def sum_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return reduce("ReduceSum", cast(x, call.dtype), None, False)


@translates("aten.sum.dim_IntList")
def sum_(call: Call, x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return reduce("ReduceSum", cast(x, call.dtype), dim, keepdim)


@translates("aten.mean.default")
def mean_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return reduce("ReduceMean", cast(x, call.dtype), None, False)


@translates("aten.mean.dim")
def mean(call: Call, x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return reduce("ReduceMean", cast(x, call.dtype), dim, keepdim)


@translates("aten.prod.default")
def prod_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return reduce("ReduceProd", cast(x, call.dtype), None, False)


@translates("aten.prod.dim_int")
def prod(call: Call, x: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return reduce("ReduceProd", cast(x, call.dtype), dim, keepdim)


@translates("aten.amax.default")
def amax(call: Call, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return _extreme("ReduceMax", x, dim, keepdim)


@translates("aten.amin.default")
def amin(call: Call, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return _extreme("ReduceMin", x, dim, keepdim)


@translates("aten.max.default")
def max_all(call: Call, x: Any) -> Any:
    return _extreme("ReduceMax", x, None, False)


@translates("aten.min.default")
def min_all(call: Call, x: Any) -> Any:
    return _extreme("ReduceMin", x, None, False)


def _extreme(name: str, x: Any, dims: Any, keepdim: bool) -> Any:
    if x.dtype is DType.BOOL:
        return cast(reduce(name, cast(x, DType.INT32), dims, keepdim), DType.BOOL)
    return reduce(name, x, dims, keepdim)


@translates("aten.max.dim")
def max_dim(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    return [_extreme("ReduceMax", x, dim, keepdim), _position("ArgMax", x, dim, keepdim)]


@translates("aten.min.dim")
def min_dim(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    return [_extreme("ReduceMin", x, dim, keepdim), _position("ArgMin", x, dim, keepdim)]


@translates("aten.max.other")
def max_other(call: Call, x: Any, y: Any) -> Any:
    x, y = cast(x, call.dtype), cast(y, call.dtype)
    return op.Or(x, y) if call.dtype is DType.BOOL else op.Max(x, y)


@translates("aten.min.other")
def min_other(call: Call, x: Any, y: Any) -> Any:
    x, y = cast(x, call.dtype), cast(y, call.dtype)
    return op.And(x, y) if call.dtype is DType.BOOL else op.Min(x, y)


@translates("aten.argmax.default")
def argmax(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return _position("ArgMax", x, dim, keepdim)


@translates("aten.argmin.default")
def argmin(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return _position("ArgMin", x, dim, keepdim)


def _position(name: str, x: Any, dim: int | None, keepdim: bool) -> Any:
    """Where an extreme stands; in the flat tensor for None."""
    rank = rank_of(x)
    if rank == 0:
        return cast(op.Mul(cast(x, DType.INT64), np.int64(0)), DType.INT64)
    if dim is not None:
        return getattr(op, name)(x, axis=axis_of(dim, rank), keepdims=int(keepdim))
    flat = getattr(op, name)(op.Reshape(x, [-1]), axis=0, keepdims=0)
    return op.Reshape(flat, [1] * rank) if keepdim else flat


@translates("aten.any.default")
def any_all(call: Call, x: Any) -> Any:
    return _any(call, x, None, False)


@translates("aten.any.dim", "aten.any.dims")
def any_(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _any(call, x, dim, keepdim)


def _any(call: Call, x: Any, dims: Any, keepdim: bool) -> Any:
    truth = cast(x, DType.BOOL)
    return (
        truth
        if rank_of(x) == 0
        else cast(reduce("ReduceMax", cast(truth, DType.INT32), dims, keepdim), DType.BOOL)
    )


@translates("aten.all.default")
def all_all(call: Call, x: Any) -> Any:
    return _all(x, None, False)


@translates("aten.all.dim", "aten.all.dims")
def all_(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _all(x, dim, keepdim)


def _all(x: Any, dims: Any, keepdim: bool) -> Any:
    truth = cast(x, DType.BOOL)
    return (
        truth
        if rank_of(x) == 0
        else cast(reduce("ReduceMin", cast(truth, DType.INT32), dims, keepdim), DType.BOOL)
    )


@translates("aten.var.correction")
def variance(call: Call, x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return variance_and_mean(call, x, dim, 1 if correction is None else correction, keepdim)[0]


@translates("aten.var.dim")
def variance_dim(call: Call, x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)[0]


@translates("aten.var.default")
def variance_all(call: Call, x: Any, unbiased: bool = True) -> Any:
    return variance_and_mean(call, x, None, int(unbiased), False)[0]


@translates("aten.std.correction")
def deviation(call: Call, x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return op.Sqrt(variance(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std.dim")
def deviation_dim(call: Call, x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return op.Sqrt(variance_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std.default")
def deviation_all(call: Call, x: Any, unbiased: bool = True) -> Any:
    return op.Sqrt(variance_all(call, x, unbiased))


@translates("aten.var_mean.correction")
def var_mean(call: Call, x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return variance_and_mean(call, x, dim, 1 if correction is None else correction, keepdim)


def variance_and_mean(call: Call, x: Any, dims: Any, correction: Any, keepdim: bool) -> list[Any]:
    """The variance, divided by the count less `correction`, and the mean."""
    dtype = call.dtype
    axes = axes_of(dims, rank_of(x))
    mean = reduce("ReduceMean", x, axes, True) if rank_of(x) else x
    spread = op.Sub(x, mean)
    total = reduce("ReduceSum", op.Mul(spread, spread), axes, keepdim)
    count: Any = 1
    for axis in axes:
        count = count * call.size(x, axis)
    divisor = count - correction
    if isinstance(divisor, int | float):
        divisor = max(divisor, 0)
    else:
        divisor = op.Max(cast(divisor, dtype), cast(0, dtype))
    squeezed = mean if keepdim or not rank_of(x) else op.Squeeze(mean, axes)
    return [op.Div(total, cast(divisor, dtype)), squeezed]
