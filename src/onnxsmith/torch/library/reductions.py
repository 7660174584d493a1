"""Sums, means and extremes along dimensions."""

from __future__ import annotations

import torch

from onnxsmith.algorithms import elementary, extremes, reductions
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import Dims, reduce
from onnxsmith.algorithms.values import (
    Numeric,
    as_tensor,
    axes_of,
    axis_of,
    converted,
    dtype_of,
    flat,
    rank_of,
)
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.marks import is_training
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import tensors
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


@translates("aten.sum.default")
def sum_all(call: Call, x: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return _sum(call, x, None, False)


@translates("aten.sum.dim_IntList")
def sum_(
    call: Call, x: Tensor, dim: Dims, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return _sum(call, x, dim, keepdim)


#: Integers whose sums stay far below what a double holds exactly.
_SHORT = frozenset(
    {*(DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16), *(DType.INT32, DType.UINT32)}
)


def _sum(call: Call, x: Tensor, dims: Dims, keepdim: bool) -> Tensor:
    if call.dtype is DType.INT64:
        is_large = not _is_short(x)
    else:
        is_large = call.dtype is DType.INT32 and dtype_of(x).bits >= 32
    x = converted(x, call.dtype)
    if is_large and rank_of(x):
        return reductions.total_of_whole(x, axes_of(dims, rank_of(x)), keepdim)
    return reduce("ReduceSum", x, dims, keepdim)


def _is_short(x: Tensor) -> bool:
    """True if a tensor is of short integers, or was until its last cast."""
    if x.dtype in _SHORT:
        return True
    producer = x.record.producer if isinstance(x, SymbolicTensor) else None
    if producer is None or producer.op_type != "Cast" or producer.inputs[0] is None:
        return False
    given = producer.inputs[0].type
    return isinstance(given, TensorType) and given.dtype in _SHORT


@translates("aten.mean.default")
def mean_all(call: Call, x: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return _mean(call, x, None, False)


@translates("aten.mean.dim")
def mean(
    call: Call, x: Tensor, dim: Dims, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return _mean(call, x, dim, keepdim)


def _mean(call: Call, x: Tensor, dims: Dims, keepdim: bool) -> Tensor:
    return reductions.mean_of(converted(x, call.dtype), dims, keepdim)


@translates("aten.prod.default")
def prod_all(call: Call, x: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    return _product(call, x, None, False)


@translates("aten.prod.dim_int")
def prod(
    call: Call, x: Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return _product(call, x, dim, keepdim)


def _product(call: Call, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    x = converted(x, call.dtype)
    return reductions.product_of(x, axes_of(dim, rank_of(x)), keepdim) if rank_of(x) else x


# -- extremes ------------------------------------------------------------------------------------------


def _extreme(x: Tensor, dims: Dims, keepdim: bool, *, is_max: bool) -> Tensor:
    axes = axes_of(dims, rank_of(x)) if rank_of(x) else []
    return extremes.extreme(Field(x), axes, keepdim, is_max=is_max).re


def _place(x: Tensor, dim: int | None, keepdim: bool, *, is_max: bool) -> Tensor:
    """Where an extreme stands; in all elements in a row for None."""
    rank = rank_of(x)
    if rank == 0:
        return as_tensor(0, DType.INT64)
    if dim is None:
        place = extremes.extreme_place(Field(flat(x)), 0, is_max=is_max)
        return op.Reshape(place, [1] * rank if keepdim else [])
    axis = axis_of(dim, rank)
    place = extremes.extreme_place(Field(x), axis, is_max=is_max)
    return place if keepdim else op.Squeeze(place, [axis])


@translates("aten.amax.default", "aten.amin.default")
def extreme(call: Call, x: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _extreme(x, dim, keepdim, is_max=call.overload == "aten.amax.default")


@translates("aten.max.default", "aten.min.default")
def extreme_of_all(call: Call, x: Tensor) -> Tensor:
    return _extreme(x, None, False, is_max=call.overload == "aten.max.default")


@translates("aten.aminmax.default")
def aminmax(call: Call, x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> list[Tensor]:
    both = [_extreme(x, dim, keepdim, is_max=each) for each in (False, True)]
    # Of one dimension less or none, but torch keeps all of them where it is told to.
    return [
        op.Reshape(each, [1] * rank_of(x)) if keepdim and dim is None and rank_of(x) else each
        for each in both
    ]


@translates("aten.max.dim", "aten.min.dim")
def extreme_and_place(call: Call, x: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    is_max = call.overload == "aten.max.dim"
    if not dtype_of(x).is_float or rank_of(x) == 0:
        return [_extreme(x, dim, keepdim, is_max=is_max), _place(x, dim, keepdim, is_max=is_max)]
    axis = axis_of(dim, rank_of(x))
    places = _place(x, dim, True, is_max=is_max)
    both = [op.GatherElements(x, places, axis=axis), places]
    return both if keepdim else [op.Squeeze(each, [axis]) for each in both]


@translates("aten.max.other")
def max_other(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return elementary.maximum(*tensors(call, x, y))


@translates("aten.min.other")
def min_other(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return elementary.minimum(*tensors(call, x, y))


@translates("aten.argmax.default", "aten.argmin.default")
def extreme_place(call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _place(x, dim, keepdim, is_max=call.overload == "aten.argmax.default")


def _truth(x: Tensor, dims: Dims, keepdim: bool, *, is_all: bool) -> Tensor:
    axes = axes_of(dims, rank_of(x)) if rank_of(x) else []
    return (reductions.all_true if is_all else reductions.any_true)(converted(x, DType.BOOL), axes, keepdim)


@translates("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return _truth(x, dim, keepdim, is_all=False)


@translates("aten.all.default", "aten.all.dim", "aten.all.dims")
def all_(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return _truth(x, dim, keepdim, is_all=True)


# -- variances -----------------------------------------------------------------------------------------


def variance_and_mean(
    call: Call, x: Tensor, dims: Dims, correction: float | Tensor | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """The variance, divided by the count less `correction`, and the mean."""
    # Squares of halves soon leave their range.
    dtype = DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype
    by = 1 if correction is None else correction
    return reductions.variance_and_mean(converted(x, dtype), dims, by, keepdim)


def _root(variance: Tensor) -> Tensor:
    """The deviation. That of equal values has the gradient 0 in torch, where the root has none."""
    return reductions.deviation_of(variance) if is_training() else op.Sqrt(variance)


@translates("aten.var.correction")
def variance(
    call: Call,
    x: Tensor,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> Tensor:
    return variance_and_mean(call, x, dim, correction, keepdim)[0]


@translates("aten.var.dim")
def variance_dim(call: Call, x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)[0]


@translates("aten.var.default")
def variance_all(call: Call, x: Tensor, unbiased: bool = True) -> Tensor:
    return variance_and_mean(call, x, None, int(unbiased), False)[0]


@translates("aten.std.correction")
def deviation(
    call: Call,
    x: Tensor,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> Tensor:
    return _root(variance(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std.dim")
def deviation_dim(call: Call, x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return _root(variance_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std.default")
def deviation_all(call: Call, x: Tensor, unbiased: bool = True) -> Tensor:
    return _root(variance_all(call, x, unbiased))


@translates("aten.var_mean.correction")
def var_mean(
    call: Call,
    x: Tensor,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    return variance_and_mean(call, x, dim, correction, keepdim)


@translates("aten.var_mean.dim")
def var_mean_dim(
    call: Call, x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)


@translates("aten.var_mean.default")
def var_mean_all(call: Call, x: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]:
    return variance_and_mean(call, x, None, int(unbiased), False)


@translates("aten.std_mean.correction")
def std_mean(
    call: Call,
    x: Tensor,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> list[Tensor]:
    return _with_root(*var_mean(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std_mean.dim")
def std_mean_dim(
    call: Call, x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> list[Tensor]:
    return _with_root(*var_mean_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std_mean.default")
def std_mean_all(call: Call, x: Tensor, unbiased: bool = True) -> list[Tensor]:
    return _with_root(*var_mean_all(call, x, unbiased))


def _with_root(variance: Tensor, mean: Tensor) -> list[Tensor]:
    return [_root(variance), mean]
