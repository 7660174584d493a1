"""Sums, products, truth and variances over axes, of real and complex tensors, as exact as their element types allow.

No axes leave every element alone. What is the greatest or least of many is found by `extremes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias
from typing import cast as typed

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, joined, number
from onnxsmith.algorithms.complex_numbers.products import product_along
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    axes_of,
    cast,
    converted,
    dtype_of,
    filled,
    has_zero,
    int64s,
    is_static,
    like,
    product,
    rank_of,
    size_of,
    sizes_of,
)
from onnxsmith.core.semantics.reductions import root_of_variance
from onnxsmith.types.dtypes import DType

Reduction: TypeAlias = Literal["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceMean"]
#: Dimensions that may count from the end; None or none of them are all.
Dims: TypeAlias = int | Sequence[int] | None

#: The end of a slice that has none.
_END = np.iinfo(np.int64).max
#: Element types that sums are made in, where that is not their own.
_WIDER = {DType.FLOAT16: DType.FLOAT, DType.FLOAT: DType.DOUBLE}


def wider(dtype: DType) -> DType:
    """The element type that many numbers are added in: what a runtime adds up one by one loses digits."""
    return _WIDER.get(dtype, dtype)


def count_along(x: Tensor, axes: Sequence[int]) -> Size:
    """How many elements stand along axes."""
    return product([size_of(x, axis) for axis in axes])


# -- axes as one -----------------------------------------------------------------------------------------


def collected(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Axes moved to the end, as one; a new one of size 1 where there are none."""
    rank = rank_of(x)
    others = [k for k in range(rank) if k not in axes]
    if not axes:
        return op.Unsqueeze(x, [rank])
    if not others:
        return x if rank == 1 else op.Reshape(x, [-1])
    order = [*others, *axes]
    moved = x if order == list(range(rank)) else op.Transpose(x, perm=order)
    if len(axes) == 1:
        return moved
    sizes = sizes_of(x)
    count = product([sizes[k] for k in axes])
    return op.Reshape(moved, int64s([*(sizes[k] for k in others), count]), allowzero=1)


def with_axes(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """The tensor with the reduced axes in their places as sizes of 1, if they are kept."""
    return op.Unsqueeze(x, sorted(axes)) if keepdims and axes else x


# -- sums ------------------------------------------------------------------------------------------------


def reduce(name: Reduction, x: Tensor, dims: Dims, keepdim: bool) -> Tensor:
    """The result of ONNX's operator, in the element type of the tensor; of a scalar, the scalar."""
    rank = rank_of(x)
    if rank == 0:
        return x
    return getattr(op, name)(x, np.array(axes_of(dims, rank), np.int64), keepdims=int(keepdim))


def total(x: Field, axes: Sequence[int], keepdims: bool, *, is_long: bool = False) -> Field:
    """The sum, in the element type that is given, added up in a wider one.

    `is_long` where so much is added that it is done block by block.
    """
    if x.dtype in (DType.INT64, DType.UINT64):
        return x.map(total_of_whole, axes, keepdims)
    if is_long and axes and x.dtype is DType.DOUBLE:
        return x.map(lambda part: with_axes(_sum_of_blocks(collected(part, axes)), axes, keepdims))
    return x.map(lambda part: _reduced("ReduceSum", part, axes, keepdims, wider(x.dtype)))


def _reduced(name: Reduction, x: Tensor, axes: Sequence[int], keepdims: bool, inside: DType) -> Tensor:
    if not axes:
        return x
    return converted(reduce(name, converted(x, inside), axes, keepdims), dtype_of(x))


@algorithm(by_size=True)
def total_of_whole(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """The sum of integers of 32 or 64 bits, which wraps around: a product with ones.

    ONNX Runtime's ReduceSum adds them as doubles, which have fewer digits and do not wrap around, and takes thirty
    times as long.
    """
    if not axes:
        return x
    rows = collected(x, axes)
    last = rank_of(rows) - 1
    sizes = sizes_of(rows)
    if is_static(sizes) and not has_zero(sizes):
        return with_axes(op.MatMul(rows, filled(sizes[last:], 1, dtype_of(x))), axes, keepdims)
    # A column: there may be no rows, and those do not go with a vector.
    ones = op.Expand(like(1, x).reshape(1, 1), op.Concat(op.Shape(rows, start=last), np.array([1]), axis=0))
    if last == 0:
        rows = op.Unsqueeze(rows, [0])
    sums = op.Squeeze(op.MatMul(rows, ones), [0, 1] if last == 0 else [last])
    return with_axes(sums, axes, keepdims)


def _sum_of_blocks(rows: Tensor) -> Tensor:
    """The sum along the last axis: of cubes of elements edge by edge, and of what is left.

    One long sum rounds as often as it has elements, and loses as many digits more.
    """
    axis = rank_of(rows) - 1
    length = op.Shape(rows, start=axis, end=axis + 1)
    edge = op.Pow(converted(length, DType.DOUBLE), np.array([1 / 3]))
    edge = op.Max(converted(op.Floor(edge), DType.INT64), np.array([1]))
    face = edge * edge
    count = op.Div(length, face)
    whole = count * face
    others = [op.Shape(rows, start=0, end=axis)] if axis else []
    cubes = op.Reshape(
        op.Slice(rows, [0], whole, [axis]), op.Concat(*others, count, edge, edge, axis=0), allowzero=1
    )
    for _ in range(3):
        cubes = op.ReduceSum(cubes, [rank_of(cubes) - 1], keepdims=0)
    return cubes + op.ReduceSum(op.Slice(rows, whole, length, [axis]), [axis], keepdims=0)


def with_first(x: Field, axis: int, value: Field) -> Field:
    """A tensor with a scalar before all others along an axis."""
    rank = rank_of(x.re)
    before = [op.Shape(x.re, start=0, end=axis)] if axis else []
    behind = [op.Shape(x.re, start=axis + 1, end=rank)] if axis + 1 < rank else []
    shape = op.Concat(*before, np.array([1]), *behind, axis=0) if rank > 1 else np.array([1])
    return joined([alike(value, x).map(op.Expand, shape), x], axis)


def mean_of(x: Tensor, dims: Dims, keepdim: bool) -> Tensor:
    """The mean; of nothing it is no number. ONNX leaves that open, and ONNX Runtime gives 0."""
    if rank_of(x) == 0:
        return x
    axes = axes_of(dims, rank_of(x))
    return _no_number_of_nothing(reduce("ReduceMean", x, axes, keepdim), [size_of(x, axis) for axis in axes])


def deviation_of(variance: Tensor) -> Tensor:
    """The root of a variance, whose gradient is 0 for equal values."""
    return typed(Tensor, root_of_variance(op, variance))


def _no_number_of_nothing(found: Tensor, sizes: Sequence[Size]) -> Tensor:
    """A mean over axes of these sizes, and NaN where one of them is 0."""
    missing = cast(np.nan, dtype_of(found))
    if has_zero(sizes):
        return found + missing
    dynamic = [each for each in sizes if not isinstance(each, int)]
    if not dynamic:
        return found
    return op.Where(op.Equal(cast(product(dynamic), DType.INT64), np.int64(0)), missing, found)


# -- products --------------------------------------------------------------------------------------------


def total_product(x: Field, axes: Sequence[int], keepdims: bool, first: Field | None = None) -> Field:
    """The product, in the element type that is given, and of a scalar before all others if there is one."""
    if x.im is None:
        found = Field(product_of(x.re, axes, keepdims, wider(x.dtype)))
        return found if first is None else first * found
    last = rank_of(x.re) - len(axes)
    rows = x.cast(wider(x.dtype)).map(collected, axes)
    begin = number(1) if first is None else first
    folded = product_along(with_first(rows, last, begin.cast(rows.dtype)), last).cast(x.dtype)
    return folded.map(with_axes, axes, keepdims)


@algorithm
def product_of(x: Tensor, axes: Sequence[int], keepdims: bool, inside: DType | None = None) -> Tensor:
    """The product of real numbers, in the element type that is given; they are multiplied in that, or `inside` one.

    ONNX Runtime multiplies longs as doubles, which have fewer digits; its running product does not.
    """
    if not axes or dtype_of(x) is not DType.INT64 or not op.has("CumProd"):
        return _reduced("ReduceProd", x, axes, keepdims, inside or dtype_of(x))
    rows = collected(x, axes)
    last = rank_of(rows) - 1
    # Padded with a one, so that the product of nothing has a last element, too.
    padded = op.Pad(rows, np.array([int(k == last) for k in range(2 * last + 2)]), like(1, x))
    found = op.Slice(op.CumProd(padded, np.int64(last)), [-1], [_END], [last])
    return with_axes(op.Squeeze(found, [last]), axes, keepdims)


# -- truth -----------------------------------------------------------------------------------------------


def any_true(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """True if any truth value is True; none of none."""
    if not axes:
        return x
    found = op.ReduceMax(converted(x, DType.UINT8), list(axes), keepdims=int(keepdims))
    return converted(found, DType.BOOL)


def all_true(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """True if all truth values are True; all of none."""
    if not axes:
        return x
    # The least of none is the largest number there is.
    found = op.ReduceMin(converted(x, DType.UINT8), list(axes), keepdims=int(keepdims))
    return converted(found, DType.BOOL)


# -- variances -------------------------------------------------------------------------------------------


@algorithm
def variance_and_mean(
    x: Tensor, dims: Dims = None, correction: float | Tensor = 0, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The variance, divided by the count less `correction`, and the mean; of nothing both are no number."""
    dtype = dtype_of(x)
    axes = axes_of(dims, rank_of(x))
    mean = reduce("ReduceMean", x, axes, True) if rank_of(x) else x
    spread = x - mean
    total = reduce("ReduceSum", spread * spread, axes, keepdim)
    sizes = [size_of(x, axis) for axis in axes]
    count = product(sizes)
    if isinstance(count, int) and isinstance(correction, int | float):
        divisor = cast(max(count - correction, 0), dtype)
    else:
        divisor = op.Max(cast(count - correction, dtype), cast(0, dtype))
    squeezed = mean if keepdim or not rank_of(x) else op.Squeeze(mean, axes)
    return op.Div(total, divisor), _no_number_of_nothing(squeezed, sizes)
