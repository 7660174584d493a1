"""Sums, means and extremes along dimensions."""

from __future__ import annotations

import numpy as np
import torch

from onnxsmith.algorithms import reductions
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.reductions import Dims, reduce
from onnxsmith.algorithms.values import (
    Numeric,
    axes_of,
    axis_of,
    converted,
    dtype_of,
    filled,
    has_zero,
    rank_of,
    size_of,
)
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import TensorValue
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import tensors
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


@translates("aten.sum.default")
def sum_all(call: Call, x: TensorValue, *, dtype: torch.dtype | None = None) -> TensorValue:
    return _sum(call, x, None, False)


@translates("aten.sum.dim_IntList")
def sum_(
    call: Call, x: TensorValue, dim: Dims, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> TensorValue:
    return _sum(call, x, dim, keepdim)


#: Integers whose sums stay far below what a double holds exactly.
_SHORT = frozenset(
    {*(DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16), *(DType.INT32, DType.UINT32)}
)


def _sum(call: Call, x: TensorValue, dims: Dims, keepdim: bool) -> TensorValue:
    if call.dtype is DType.INT64:
        is_large = not _is_short(x)
    else:
        is_large = call.dtype is DType.INT32 and dtype_of(x).bits >= 32
    x = converted(x, call.dtype)
    if is_large and rank_of(x):
        return reductions.wrapping_sum(x, dims, keepdim)
    return reduce("ReduceSum", x, dims, keepdim)


def _is_short(x: TensorValue) -> bool:
    """Whether a tensor is of short integers, or was until its last cast."""
    if x.dtype in _SHORT:
        return True
    producer = x.record.producer if isinstance(x, SymbolicTensor) else None
    if producer is None or producer.op_type != "Cast" or producer.inputs[0] is None:
        return False
    given = producer.inputs[0].type
    return isinstance(given, TensorType) and given.dtype in _SHORT


@translates("aten.mean.default")
def mean_all(call: Call, x: TensorValue, *, dtype: torch.dtype | None = None) -> TensorValue:
    return _mean(call, x, None, False)


@translates("aten.mean.dim")
def mean(
    call: Call, x: TensorValue, dim: Dims, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> TensorValue:
    return _mean(call, x, dim, keepdim)


def _mean(call: Call, x: TensorValue, dims: Dims, keepdim: bool) -> TensorValue:
    x = converted(x, call.dtype)
    if rank_of(x) and has_zero([size_of(x, axis) for axis in axes_of(dims, rank_of(x))]):
        return filled(call.output_shape(), np.nan, call.dtype)  # ONNX Runtime says 0
    return reduce("ReduceMean", x, dims, keepdim)


@translates("aten.prod.default")
def prod_all(call: Call, x: TensorValue, *, dtype: torch.dtype | None = None) -> TensorValue:
    return reductions.product_of(converted(x, call.dtype), None, False)


@translates("aten.prod.dim_int")
def prod(
    call: Call, x: TensorValue, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> TensorValue:
    return reductions.product_of(converted(x, call.dtype), dim, keepdim)


# -- extremes ------------------------------------------------------------------------------------------


@translates("aten.amax.default")
def amax(call: Call, x: TensorValue, dim: Dims = (), keepdim: bool = False) -> TensorValue:
    return reductions.amax(x, dim, keepdim)


@translates("aten.amin.default")
def amin(call: Call, x: TensorValue, dim: Dims = (), keepdim: bool = False) -> TensorValue:
    return reductions.amin(x, dim, keepdim)


@translates("aten.max.default")
def max_all(call: Call, x: TensorValue) -> TensorValue:
    return reductions.amax(x)


@translates("aten.min.default")
def min_all(call: Call, x: TensorValue) -> TensorValue:
    return reductions.amin(x)


@translates("aten.aminmax.default")
def aminmax(
    call: Call, x: TensorValue, *, dim: int | None = None, keepdim: bool = False
) -> list[TensorValue]:
    both = [reductions.amin(x, dim, keepdim), reductions.amax(x, dim, keepdim)]
    # Of one dimension less or none, but torch keeps all of them where it is told to.
    return [
        op.Reshape(each, [1] * rank_of(x)) if keepdim and dim is None and rank_of(x) else each
        for each in both
    ]


@translates("aten.max.dim", "aten.min.dim")
def extreme_and_place(call: Call, x: TensorValue, dim: int, keepdim: bool = False) -> list[TensorValue]:
    is_max = call.overload == "aten.max.dim"
    extreme = reductions.amax if is_max else reductions.amin
    place = reductions.argmax if is_max else reductions.argmin
    if not dtype_of(x).is_float or rank_of(x) == 0:
        return [extreme(x, dim, keepdim), place(x, dim, keepdim)]
    axis = axis_of(dim, rank_of(x))
    places = place(x, dim, True)
    both = [op.GatherElements(x, places, axis=axis), places]
    return both if keepdim else [op.Squeeze(each, [axis]) for each in both]


@translates("aten.max.other")
def max_other(call: Call, x: Numeric, y: Numeric) -> TensorValue:
    x, y = tensors(call, x, y)
    return op.Or(x, y) if call.dtype is DType.BOOL else op.Max(x, y)


@translates("aten.min.other")
def min_other(call: Call, x: Numeric, y: Numeric) -> TensorValue:
    x, y = tensors(call, x, y)
    return op.And(x, y) if call.dtype is DType.BOOL else op.Min(x, y)


@translates("aten.argmax.default")
def argmax(call: Call, x: TensorValue, dim: int | None = None, keepdim: bool = False) -> TensorValue:
    return reductions.argmax(x, dim, keepdim)


@translates("aten.argmin.default")
def argmin(call: Call, x: TensorValue, dim: int | None = None, keepdim: bool = False) -> TensorValue:
    return reductions.argmin(x, dim, keepdim)


@translates("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_(call: Call, x: TensorValue, dim: Dims = None, keepdim: bool = False) -> TensorValue:
    return reductions.any_true(x, dim, keepdim)


@translates("aten.all.default", "aten.all.dim", "aten.all.dims")
def all_(call: Call, x: TensorValue, dim: Dims = None, keepdim: bool = False) -> TensorValue:
    return reductions.all_true(x, dim, keepdim)


# -- variances -----------------------------------------------------------------------------------------


def variance_and_mean(
    call: Call, x: TensorValue, dims: Dims, correction: float | Tensor | None, keepdim: bool
) -> tuple[TensorValue, TensorValue]:
    """The variance, divided by the count less `correction`, and the mean."""
    # Squares of halves soon leave their range.
    dtype = DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype
    by = 1 if correction is None else correction
    return reductions.variance_and_mean(converted(x, dtype), dims, by, keepdim)


@translates("aten.var.correction")
def variance(
    call: Call,
    x: TensorValue,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> TensorValue:
    return variance_and_mean(call, x, dim, correction, keepdim)[0]


@translates("aten.var.dim")
def variance_dim(
    call: Call, x: TensorValue, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> TensorValue:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)[0]


@translates("aten.var.default")
def variance_all(call: Call, x: TensorValue, unbiased: bool = True) -> TensorValue:
    return variance_and_mean(call, x, None, int(unbiased), False)[0]


@translates("aten.std.correction")
def deviation(
    call: Call,
    x: TensorValue,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> TensorValue:
    return op.Sqrt(variance(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std.dim")
def deviation_dim(
    call: Call, x: TensorValue, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> TensorValue:
    return op.Sqrt(variance_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std.default")
def deviation_all(call: Call, x: TensorValue, unbiased: bool = True) -> TensorValue:
    return op.Sqrt(variance_all(call, x, unbiased))


@translates("aten.var_mean.correction")
def var_mean(
    call: Call,
    x: TensorValue,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> tuple[TensorValue, TensorValue]:
    return variance_and_mean(call, x, dim, correction, keepdim)


@translates("aten.var_mean.dim")
def var_mean_dim(
    call: Call, x: TensorValue, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> tuple[TensorValue, TensorValue]:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)


@translates("aten.var_mean.default")
def var_mean_all(call: Call, x: TensorValue, unbiased: bool = True) -> tuple[TensorValue, TensorValue]:
    return variance_and_mean(call, x, None, int(unbiased), False)


@translates("aten.std_mean.correction")
def std_mean(
    call: Call,
    x: TensorValue,
    dim: Dims = None,
    *,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> list[TensorValue]:
    return _with_root(*var_mean(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std_mean.dim")
def std_mean_dim(
    call: Call, x: TensorValue, dim: Dims, unbiased: bool = True, keepdim: bool = False
) -> list[TensorValue]:
    return _with_root(*var_mean_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std_mean.default")
def std_mean_all(call: Call, x: TensorValue, unbiased: bool = True) -> list[TensorValue]:
    return _with_root(*var_mean_all(call, x, unbiased))


def _with_root(variance: TensorValue, mean: TensorValue) -> list[TensorValue]:
    return [op.Sqrt(variance), mean]
