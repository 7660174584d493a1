"""Sums, products, extremes, variances along dimensions of tensors of any rank; `Dims` None or empty are all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    as_tensor,
    axes_of,
    axis_of,
    cast,
    converted,
    dtype_of,
    filled,
    flat,
    like,
    product,
    rank_of,
    reshape,
    size_of,
    sizes_of,
)
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType

Reduction: TypeAlias = Literal["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceMean"]
Dims: TypeAlias = int | Sequence[int] | None

_END = np.iinfo(np.int64).max


def reduce(name: Reduction, x: TensorValue, dims: Dims, keepdim: bool) -> TensorValue:
    """A reduction over dimensions, all for None."""
    rank = rank_of(x)
    if rank == 0:
        return x
    axes = axes_of(dims, rank)
    return getattr(op, name)(x, np.array(axes, np.int64), keepdims=int(keepdim))


@algorithm
def wrapping_sum(x: TensorValue, dims: Dims, keepdim: bool) -> TensorValue:
    """The sum of integers as a product with a vector of ones, which wraps around.

    ONNX Runtime's ReduceSum adds as doubles, which have fewer digits than longs and do not wrap around; its product
    does not, and is no slower.
    """
    if rank_of(x) == 0:
        return x
    axes = axes_of(dims, rank_of(x))
    sizes = sizes_of(x)
    kept = [axis for axis in range(rank_of(x)) if axis not in axes]
    order = [*kept, *axes]
    turned = x if order == sorted(order) else op.Transpose(x, perm=order)
    count = product([sizes[axis] for axis in axes])
    rows = reshape(turned, [*(sizes[axis] for axis in kept), count])
    total = op.MatMul(rows, filled([count], 1, dtype_of(x)))
    return op.Unsqueeze(total, axes) if keepdim else total


@algorithm
def product_of(x: TensorValue, dim: int | None, keepdim: bool) -> TensorValue:
    """A product over one dimension, or over all for None.

    ONNX Runtime multiplies longs as doubles, which have fewer digits; its running product does not.
    """
    rank = rank_of(x)
    if rank == 0 or dtype_of(x) is not DType.INT64 or not op.has("CumProd"):
        return reduce("ReduceProd", x, dim, keepdim)
    axis = 0 if dim is None else axis_of(dim, rank)
    x = flat(x) if dim is None else x
    # Padded with a one, so that the product of nothing has a last element, too.
    before = [int(k == axis) for k in range(rank_of(x))]
    padded = op.Pad(x, np.array([*before, *[0] * rank_of(x)]), like(1, x))
    last = op.Slice(op.CumProd(padded, np.int64(axis)), [-1], [_END], [axis])
    return last if keepdim else op.Squeeze(last, [axis])


# -- extremes ------------------------------------------------------------------------------------------


@algorithm
def amax(x: TensorValue, dims: Dims = None, keepdim: bool = False) -> TensorValue:
    """The largest, and no number if one of them is none, which ONNX Runtime passes over."""
    return _extreme("ReduceMax", x, dims, keepdim)


@algorithm
def amin(x: TensorValue, dims: Dims = None, keepdim: bool = False) -> TensorValue:
    """The smallest, and no number if one of them is none, which ONNX Runtime passes over."""
    return _extreme("ReduceMin", x, dims, keepdim)


def _extreme(
    name: Literal["ReduceMax", "ReduceMin"], x: TensorValue, dims: Dims, keepdim: bool
) -> TensorValue:
    dtype = dtype_of(x)
    if dtype is DType.BOOL:
        return _of_truth(name, x, dims, keepdim)
    result = reduce(name, x, dims, keepdim)
    if not dtype.is_float or rank_of(x) == 0:
        return result
    holes = op.Where(op.IsNaN(x), x, like(0, x))
    return op.Add(result, reduce("ReduceSum", holes, dims, keepdim))


@algorithm
def argmax(x: TensorValue, dim: int | None = None, keepdim: bool = False) -> TensorValue:
    """Where the largest stands, the first one of several; in all elements in a row for None.

    What is no number is larger than all others.
    """
    return _position(x, dim, keepdim, is_max=True)


@algorithm
def argmin(x: TensorValue, dim: int | None = None, keepdim: bool = False) -> TensorValue:
    """Where the smallest stands, the first one of several; in all elements in a row for None.

    What is no number is smaller than all others.
    """
    return _position(x, dim, keepdim, is_max=False)


def _position(x: TensorValue, dim: int | None, keepdim: bool, *, is_max: bool) -> TensorValue:
    rank = rank_of(x)
    if rank == 0:
        return as_tensor(0, DType.INT64)
    x = _with_extreme_holes(x, is_max)
    find = op.ArgMax if is_max else op.ArgMin
    if dim is not None:
        return find(x, axis=axis_of(dim, rank), keepdims=int(keepdim))
    place = find(flat(x), axis=0, keepdims=0)
    return op.Reshape(place, [1] * rank) if keepdim else place


def _with_extreme_holes(x: TensorValue, is_max: bool) -> TensorValue:
    """Values of which what is no number is the most extreme; infinity comes close."""
    dtype = dtype_of(x)
    if not dtype.is_float:
        return x
    largest = np.finfo(np.float32 if dtype is DType.BFLOAT16 else dtype.numpy).max
    finite = op.Min(x, cast(largest, dtype)) if is_max else op.Max(x, cast(-largest, dtype))
    return op.Where(op.IsNaN(x), cast(np.inf if is_max else -np.inf, dtype), finite)


@algorithm
def any_true(x: TensorValue, dims: Dims = None, keepdim: bool = False) -> TensorValue:
    """Whether one is true, or not zero; False of nothing."""
    return _of_truth("ReduceMax", x, dims, keepdim)


@algorithm
def all_true(x: TensorValue, dims: Dims = None, keepdim: bool = False) -> TensorValue:
    """Whether all are true, or not zero; True of nothing."""
    return _of_truth("ReduceMin", x, dims, keepdim)


def _of_truth(
    name: Literal["ReduceMax", "ReduceMin"], x: TensorValue, dims: Dims, keepdim: bool
) -> TensorValue:
    """A reduction of truth values, as bytes: ONNX Runtime has none for no truth values."""
    truth = converted(x, DType.BOOL)
    if rank_of(x) == 0:
        return truth
    return converted(reduce(name, converted(truth, DType.UINT8), dims, keepdim), DType.BOOL)


# -- variances -----------------------------------------------------------------------------------------


@algorithm
def variance_and_mean(
    x: TensorValue, dims: Dims = None, correction: float | Tensor = 0, keepdim: bool = False
) -> tuple[TensorValue, TensorValue]:
    """The variance, divided by the count less `correction`, and the mean; of nothing both are no number."""
    dtype = dtype_of(x)
    axes = axes_of(dims, rank_of(x))
    mean = reduce("ReduceMean", x, axes, True) if rank_of(x) else x
    spread = op.Sub(x, mean)
    total = reduce("ReduceSum", op.Mul(spread, spread), axes, keepdim)
    count = product([size_of(x, axis) for axis in axes])
    if isinstance(count, int) and isinstance(correction, int | float):
        divisor = cast(max(count - correction, 0), dtype)
    else:
        divisor = op.Max(cast(count - correction, dtype), cast(0, dtype))
    if isinstance(count, int) and count == 0:
        mean = op.Add(mean, cast(np.nan, dtype))  # of nothing, which ONNX Runtime gives as 0
    squeezed = mean if keepdim or not rank_of(x) else op.Squeeze(mean, axes)
    return op.Div(total, divisor), squeezed
