# pyright: basic
"""Sums, means and extremes along dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.algorithms import reductions
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axes_of, axis_of, cast, filled, rank_of, reshape
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

reduce: Any = reductions.reduce


@translates("aten.sum.default")
def sum_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return _sum(call, x, None, False)


@translates("aten.sum.dim_IntList")
def sum_(call: Call, x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return _sum(call, x, dim, keepdim)


#: Integers whose sums stay far below what a double holds exactly.
_SHORT = frozenset(
    {*(DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16), *(DType.INT32, DType.UINT32)}
)


def _sum(call: Call, x: Any, dims: Any, keepdim: bool) -> Any:
    is_large = (
        not _is_short(x) if call.dtype is DType.INT64 else call.dtype is DType.INT32 and x.dtype.bits >= 32
    )
    x = cast(x, call.dtype)
    if is_large and rank_of(x):
        return _wrapping_sum(call, x, axes_of(dims, rank_of(x)), keepdim)
    return reduce("ReduceSum", x, dims, keepdim)


def _is_short(x: Any) -> bool:
    """Whether a tensor is of short integers, or was until its last cast."""
    if x.dtype in _SHORT:
        return True
    producer = x.record.producer
    if producer is None or producer.op_type != "Cast":
        return False
    given = producer.inputs[0].type
    return isinstance(given, TensorType) and given.dtype in _SHORT


def _wrapping_sum(call: Call, x: Any, axes: list[int], keepdim: bool) -> Any:
    """The product with a vector of ones, which wraps around as torch's sum does.

    ONNX Runtime's ReduceSum adds as doubles, which have fewer digits than longs and do not wrap around; its product
    does not, and is no slower.
    """
    sizes = call.shape_of(x)
    kept = [axis for axis in range(rank_of(x)) if axis not in axes]
    order = [*kept, *axes]
    turned = x if order == sorted(order) else op.Transpose(x, perm=order)
    count: Any = 1
    for axis in axes:
        count = count * sizes[axis]
    flat = reshape(turned, [*(sizes[axis] for axis in kept), count])
    total = op.MatMul(flat, filled([count], 1, x.dtype))
    return op.Unsqueeze(total, axes) if keepdim else total


@translates("aten.mean.default")
def mean_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return _mean(call, x, None, False)


@translates("aten.mean.dim")
def mean(call: Call, x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return _mean(call, x, dim, keepdim)


def _mean(call: Call, x: Any, dims: Any, keepdim: bool) -> Any:
    x = cast(x, call.dtype)
    sizes = [call.size(x, axis) for axis in axes_of(dims, rank_of(x))] if rank_of(x) else []
    if any(isinstance(each, int) and each == 0 for each in sizes):
        return filled(call.output_shape(), np.nan, call.dtype)  # ONNX Runtime says 0
    return reduce("ReduceMean", x, dims, keepdim)


@translates("aten.prod.default")
def prod_all(call: Call, x: Any, *, dtype: Any = None) -> Any:
    return _product(cast(x, call.dtype), None, False)


@translates("aten.prod.dim_int")
def prod(call: Call, x: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return _product(cast(x, call.dtype), dim, keepdim)


def _product(x: Any, dim: int | None, keepdim: bool) -> Any:
    """A product over one dimension, or over all for None.

    ONNX Runtime multiplies longs as doubles, which have fewer digits; its running product does not.
    """
    rank = rank_of(x)
    if rank == 0 or x.dtype is not DType.INT64 or not op.has("CumProd"):
        return reduce("ReduceProd", x, dim, keepdim)
    axis = 0 if dim is None else axis_of(dim, rank)
    x = op.Reshape(x, [-1]) if dim is None else x
    # Padded with a one, so that the product of nothing has a last element, too.
    before = [int(k == axis) for k in range(rank_of(x))]
    padded = op.Pad(x, np.array([*before, *[0] * rank_of(x)]), cast(1, x.dtype))
    last = op.Slice(op.CumProd(padded, np.int64(axis)), [-1], [np.iinfo(np.int64).max], [axis])
    return last if keepdim else op.Squeeze(last, [axis])


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
    """The largest or smallest, and no number if one of them is none, which ONNX Runtime passes over."""
    if x.dtype is DType.BOOL:
        return _of_truth(name, x, dims, keepdim)
    result = reduce(name, x, dims, keepdim)
    if not x.dtype.is_float or rank_of(x) == 0:
        return result
    holes = op.Where(op.IsNaN(x), x, cast(0, x.dtype))
    return op.Add(result, reduce("ReduceSum", holes, dims, keepdim))


@translates("aten.aminmax.default")
def aminmax(call: Call, x: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    both = [_extreme(name, x, dim, keepdim) for name in ("ReduceMin", "ReduceMax")]
    # Of one dimension less or none, but torch keeps all of them where it is told to.
    return [
        op.Reshape(each, [1] * rank_of(x)) if keepdim and dim is None and rank_of(x) else each
        for each in both
    ]


@translates("aten.max.dim")
def max_dim(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    return _extreme_and_position("Max", x, dim, keepdim)


@translates("aten.min.dim")
def min_dim(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
    return _extreme_and_position("Min", x, dim, keepdim)


def _extreme_and_position(which: str, x: Any, dim: int, keepdim: bool) -> list[Any]:
    if not x.dtype.is_float or rank_of(x) == 0:
        return [_extreme(f"Reduce{which}", x, dim, keepdim), _position(f"Arg{which}", x, dim, keepdim)]
    axis = axis_of(dim, rank_of(x))
    places = _position(f"Arg{which}", x, dim, True)
    both = [op.GatherElements(x, places, axis=axis), places]
    return both if keepdim else [op.Squeeze(each, [axis]) for each in both]


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
    """Where an extreme stands, the first one of several; in the flat tensor for None."""
    rank = rank_of(x)
    if rank == 0:
        return np.int64(0)
    x = _with_extreme_holes(name, x)
    if dim is not None:
        return getattr(op, name)(x, axis=axis_of(dim, rank), keepdims=int(keepdim))
    flat = getattr(op, name)(op.Reshape(x, [-1]), axis=0, keepdims=0)
    return op.Reshape(flat, [1] * rank) if keepdim else flat


def _with_extreme_holes(name: str, x: Any) -> Any:
    """Values of which what is no number is the most extreme, as torch has it; infinity comes close."""
    if not x.dtype.is_float:
        return x
    is_max = name == "ArgMax"
    largest = np.finfo(np.float32 if x.dtype is DType.BFLOAT16 else x.dtype.numpy).max
    finite = op.Min(x, cast(largest, x.dtype)) if is_max else op.Max(x, cast(-largest, x.dtype))
    return op.Where(op.IsNaN(x), cast(np.inf if is_max else -np.inf, x.dtype), finite)


@translates("aten.any.default")
def any_all(call: Call, x: Any) -> Any:
    return _any(call, x, None, False)


@translates("aten.any.dim", "aten.any.dims")
def any_(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _any(call, x, dim, keepdim)


def _any(call: Call, x: Any, dims: Any, keepdim: bool) -> Any:
    return _of_truth("ReduceMax", x, dims, keepdim)


@translates("aten.all.default")
def all_all(call: Call, x: Any) -> Any:
    return _all(x, None, False)


@translates("aten.all.dim", "aten.all.dims")
def all_(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _all(x, dim, keepdim)


def _all(x: Any, dims: Any, keepdim: bool) -> Any:
    return _of_truth("ReduceMin", x, dims, keepdim)


def _of_truth(name: str, x: Any, dims: Any, keepdim: bool) -> Any:
    """A reduction of truth values, as bytes: ONNX Runtime has none for no truth values."""
    truth = cast(x, DType.BOOL)
    if rank_of(x) == 0:
        return truth
    return cast(reduce(name, cast(truth, DType.UINT8), dims, keepdim), DType.BOOL)


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


@translates("aten.var_mean.dim")
def var_mean_dim(call: Call, x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return variance_and_mean(call, x, dim, int(unbiased), keepdim)


@translates("aten.var_mean.default")
def var_mean_all(call: Call, x: Any, unbiased: bool = True) -> Any:
    return variance_and_mean(call, x, None, int(unbiased), False)


@translates("aten.std_mean.correction")
def std_mean(call: Call, x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return _with_root(var_mean(call, x, dim, correction=correction, keepdim=keepdim))


@translates("aten.std_mean.dim")
def std_mean_dim(call: Call, x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return _with_root(var_mean_dim(call, x, dim, unbiased, keepdim))


@translates("aten.std_mean.default")
def std_mean_all(call: Call, x: Any, unbiased: bool = True) -> Any:
    return _with_root(var_mean_all(call, x, unbiased))


def _with_root(variance_and_mean: list[Any]) -> list[Any]:
    return [op.Sqrt(variance_and_mean[0]), variance_and_mean[1]]


def variance_and_mean(call: Call, x: Any, dims: Any, correction: Any, keepdim: bool) -> list[Any]:
    """The variance, divided by the count less `correction`, and the mean."""
    # Squares of halves soon leave their range.
    dtype = DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype
    x = cast(x, dtype)
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
    if isinstance(count, int) and count == 0:
        mean = op.Add(mean, cast(np.nan, dtype))  # of nothing, which ONNX Runtime gives as 0
    squeezed = mean if keepdim or not rank_of(x) else op.Squeeze(mean, axes)
    return [op.Div(total, cast(divisor, dtype)), squeezed]
