"""Sums, means and extremes along dimensions, of segments, and up to each element."""

from __future__ import annotations

import numpy as np
import torch

from onnxsmith.algorithms import cumulative, extremes, reductions, segments
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import Dims, reduce
from onnxsmith.algorithms.segments import Reduction
from onnxsmith.algorithms.values import (
    as_tensor,
    axes_of,
    axis_of,
    converted,
    dtype_of,
    flat,
    int64s,
    rank_of,
)
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Results, Translated
from onnxsmith.torch.library.marks import is_training
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.sorting import alone
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Integers whose sums stay far below what a double holds exactly.
_SHORT = frozenset(
    {*(DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16), *(DType.INT32, DType.UINT32)}
)


@translates("aten.sum.default", "aten.sum.dim_IntList")
def sum_(
    call: Call, x: Tensor, dims: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
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


@translates("aten.mean.default", "aten.mean.dim")
def mean(
    call: Call, x: Tensor, dims: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return reductions.mean_of(converted(x, call.dtype), dims, keepdim)


@translates("aten.prod.default", "aten.prod.dim_int")
def prod(
    call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
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


@translates("aten.amax.default", "aten.amin.default", "aten.max.default", "aten.min.default")
def extreme(call: Call, x: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _extreme(x, dim, keepdim, is_max=call.overload in ("aten.amax.default", "aten.max.default"))


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


@translates("aten.argmax.default", "aten.argmin.default")
def extreme_place(call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _place(x, dim, keepdim, is_max=call.overload == "aten.argmax.default")


@translates(*(f"aten.{name}.{kind}" for name in ("any", "all") for kind in ("default", "dim", "dims")))
def truth(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    axes = axes_of(dim, rank_of(x)) if rank_of(x) else []
    found = reductions.all_true if call.overload.startswith("aten.all") else reductions.any_true
    return found(converted(x, DType.BOOL), axes, keepdim)


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


SPREADS = {
    f"aten.{name}.{kind}": name
    for name in ("var", "std", "var_mean", "std_mean")
    for kind in ("correction", "dim", "default")
}


@translates(*SPREADS, by_name=True)
def spread(
    call: Call,
    x: Tensor,
    dim: Dims = None,
    unbiased: bool = True,
    correction: float | Tensor | None = None,
    keepdim: bool = False,
) -> Translated:
    correction = int(unbiased) if correction is None else correction
    variance, mean = variance_and_mean(call, x, dim, correction, keepdim)
    name = SPREADS[call.overload]
    first = _root(variance) if name.startswith("std") else variance
    return [first, mean] if name.endswith("mean") else first


# -- running sums --------------------------------------------------------------------------------------


@translates("aten.cumsum.default")
def cumsum(call: Call, x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    x = converted(x, call.dtype)
    return cumulative.cumsum(x, axis_of(dim, rank_of(x))) if rank_of(x) else x


@translates("aten.cumprod.default")
def cumprod(call: Call, x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    x = converted(x, call.dtype)
    return cumulative.cumprod(x, axis_of(dim, rank_of(x))) if rank_of(x) else x


@translates("aten.diff.default")
def diff(
    call: Call,
    x: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    axis = axis_of(dim, rank_of(x))
    parts = [cast(each, call.dtype) for each in (prepend, x, append) if each is not None]
    found = parts[0] if len(parts) == 1 else op.Concat(*parts, axis=axis)
    for _ in range(n):
        later = op.Slice(found, int64s([1]), int64s([np.iinfo(np.int64).max]), int64s([axis]))
        earlier = op.Slice(found, int64s([0]), int64s([-1]), int64s([axis]))
        found = op.Xor(later, earlier) if call.dtype is DType.BOOL else later - earlier
    return found


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


# -- segments ------------------------------------------------------------------------------------------


@translates("aten.segment_reduce.default")
def segment_reduce(
    call: Call,
    x: Tensor,
    reduce: Reduction,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    # ONNX Runtime scatters halves, but does not reduce them.
    x = converted(x, DType.FLOAT) if x.dtype in (DType.FLOAT16, DType.BFLOAT16) else x
    axis = axis_of(axis, rank_of(x))
    if lengths is not None:
        ends = segments.offsets_of(lengths)
    elif offsets is not None:
        ends = converted(offsets, DType.INT64)
    else:
        raise call.refuse("segments that are given by indices")
    return segments.reduced(x, ends, axis, call.output_shape()[axis], reduce, initial)
