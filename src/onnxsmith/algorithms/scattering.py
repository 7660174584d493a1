"""Writing elements into a copy of a tensor: at positions, index tensors and masks; with and without a reduction.

What is written is of the element type of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.indexing import (
    at_least_vector,
    broadcast_sizes,
    dimensions_before,
    flattened,
    given,
    index_tuples,
    is_mask,
    without_masks,
)
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    converted,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    has_zero,
    int64s,
    like,
    rank_of,
    reshape,
    size_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType

#: How what is written to one place becomes one.
Reduction: TypeAlias = Literal["sum", "mean", "prod", "amax", "amin"]
#: ONNX's words for it.
_Word: TypeAlias = Literal["none", "add", "mul", "max", "min"]
_WORDS: dict[Reduction, _Word] = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
#: The same on truth values, of which ONNX Runtime knows no order.
_ON_TRUTH: dict[_Word, _Word] = {"max": "add", "min": "mul"}
_HALVES = (DType.FLOAT16, DType.BFLOAT16)

#: Data, what is written, and a reduction -> the data with that written.
_Write: TypeAlias = Callable[[Tensor, Tensor, _Word], Tensor]


def _by_elements(index: Tensor, axis: int) -> _Write:
    """A writer for an index of as many dimensions as the data has, a position for each element written."""
    return lambda x, source, reduction: op.ScatterElements(x, index, source, axis=axis, reduction=reduction)


def _by_tuples(tuples: Tensor) -> _Write:
    """A writer for positions along the first dimensions, in the last dimension of one tensor."""
    return lambda x, source, reduction: op.ScatterND(x, tuples, source, reduction=reduction)


def _along(index: Tensor, source: Tensor, axis: int) -> _Write:
    """A writer for positions along one dimension, each for a whole slice of the source."""
    index = at_least_vector(converted(index, DType.INT64))
    if axis == 0:
        return _by_tuples(op.Unsqueeze(index, [1]))
    column = op.Unsqueeze(index, [k for k in range(rank_of(source)) if k != axis])
    return _by_elements(expand(column, sizes_of(source)), axis)


def _written(x: Tensor, source: Tensor, word: _Word, write: _Write) -> Tensor:
    """A write in an element type that ONNX Runtime reduces in; NaN is the greatest and the least."""
    dtype = dtype_of(x)
    if word == "none":
        return write(x, source, word)
    if dtype is DType.BOOL:
        return write(x, source, _ON_TRUTH.get(word, word))
    if dtype in _HALVES:
        wide, added = converted(x, DType.FLOAT), converted(source, DType.FLOAT)
        return converted(_written(wide, added, word, write), dtype)
    result = write(x, source, word)
    if word not in ("max", "min") or not dtype.is_float:
        return result
    is_missing = write(op.IsNaN(x), op.IsNaN(source), "add")
    return op.Where(is_missing, like(np.nan, x), result)


def _reduced(x: Tensor, source: Tensor, write: _Write, reduction: Reduction, include_self: bool) -> Tensor:
    """A write with a reduction, in which the data counts or does not."""
    dtype = dtype_of(x)
    neutral = _neutral(reduction, dtype)
    if dtype in _HALVES:
        x, source = converted(x, DType.FLOAT), converted(source, DType.FLOAT)
    if not include_self:
        x = write(x, filled(sizes_of(source), neutral, dtype_of(x)), "none")
    result = _written(x, source, _WORDS[reduction], write)
    if reduction == "mean":
        ones = filled(sizes_of(source), 1, dtype_of(x))
        counts = write(filled(sizes_of(x), int(include_self), dtype_of(x)), ones, "add")
        result = _quotient(result, op.Max(counts, like(1, x)))
    return converted(result, dtype)


def _quotient(total: Tensor, count: Tensor) -> Tensor:
    if dtype_of(total).is_float:
        return op.Div(total, count)
    return op.Div(total - op.Mod(total, count), count)  # rounds down, also below zero


def _neutral(reduction: Reduction, dtype: DType) -> bool | int | float:
    """The neutral value of a reduction."""
    if reduction in ("amax", "amin"):
        if dtype is DType.BOOL:
            return reduction == "amin"
        if dtype.is_float:
            return float("-inf" if reduction == "amax" else "inf")
        limits = np.iinfo(dtype.numpy)
        return int(limits.min if reduction == "amax" else limits.max)
    return 1 if reduction == "prod" else 0


@algorithm(by_size=True)
def scatter(
    x: Tensor,
    axis: int,
    index: Tensor,
    source: Tensor,
    reduction: Reduction | None = None,
    include_self: bool = True,
) -> Tensor:
    """A position along an axis for each element that is written; the source may be larger than the index."""
    index = converted(index, DType.INT64)
    write = _by_elements(index, axis)
    source = _cropped(source, index)
    if reduction is None:
        return write(x, source, "none")
    return _reduced(x, source, write, reduction, include_self)


def _cropped(source: Tensor, index: Tensor) -> Tensor:
    """The part of a source that an index has positions for."""
    sizes = list(zip(dimensions_of(source), dimensions_of(index), strict=True))
    axes = [k for k, (mine, theirs) in enumerate(sizes) if mine is None or mine != theirs]
    if not axes:
        return source
    ends = int64s([size_of(index, k) for k in axes])
    return op.Slice(source, np.zeros(len(axes), np.int64), ends, np.array(axes))


@algorithm(by_size=True)
def index_write(
    x: Tensor,
    axis: int,
    index: Tensor,
    source: Tensor,
    reduction: Reduction | None = None,
    include_self: bool = True,
) -> Tensor:
    """A position along an axis for each slice that is written."""
    write = _along(index, source, axis)
    if reduction is None:
        return write(x, source, "none")
    return _reduced(x, source, write, reduction, include_self)


@algorithm(by_size=True)
def put(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """The new `x` after `x[indices] = values`, or `+=`; None stands for a whole dimension."""
    axes, tensors = given(indices)
    if not axes:
        values = expand(values, sizes_of(x))
        return x + values if accumulate else values
    if len(axes) == 1 and is_mask(tensors[0]) and not accumulate:
        chosen = _chosen(x, tensors[0], axes[0], values)
        if chosen is not None:
            return chosen
    axes, tensors = given(without_masks(indices))
    rest = [k for k in range(rank_of(x)) if k not in axes]
    order = [*axes, *rest]
    tuples = index_tuples(tensors)
    width = rank_of(tuples) - 1
    updates = _in_front(values, width, dimensions_before(axes), len(rest))
    sizes = [*sizes_of(tuples)[:-1], *(size_of(x, k) for k in rest)]
    is_in_order = order == sorted(order)
    first = x if is_in_order else op.Transpose(x, perm=order)
    result = _written(first, expand(updates, sizes), "add" if accumulate else "none", _by_tuples(tuples))
    return result if is_in_order else op.Transpose(result, perm=[order.index(k) for k in range(len(order))])


def _in_front(values: Tensor, width: int, before: int, rest: int) -> Tensor:
    """Values whose dimensions of the index tensors stand first, not after `before` others."""
    if not before:
        return values
    missing = width + rest - rank_of(values)
    if missing > 0:
        values = op.Unsqueeze(values, list(range(missing)))
    order = [*range(before, before + width), *range(before), *range(before + width, width + rest)]
    return op.Transpose(values, perm=order)


def _chosen(x: Tensor, mask: Tensor, axis: int, values: Tensor) -> Tensor | None:
    """The result of a mask with values that are the same for all its elements; None where they differ."""
    after = rank_of(x) - axis - rank_of(mask)
    rank = rank_of(values)
    if rank > after:
        place = rank - after - 1
        if dimensions_of(values)[place] != 1:
            return None
        added = list(range(place, place + rank_of(mask) - 1))
        values = op.Unsqueeze(values, added) if added else values
    mask = converted(mask, DType.BOOL)
    if after:
        mask = op.Unsqueeze(mask, list(range(rank_of(mask), rank_of(mask) + after)))
    return op.Where(mask, values, x)


@algorithm(by_size=True)
def put_flat(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A place among all elements in a row for each element that is written."""
    write = _by_elements(flattened(converted(index, DType.INT64)), 0)
    result = _written(flattened(x), flattened(source), "add" if accumulate else "none", write)
    return reshape(result, sizes_of(x))


@algorithm(by_size=True)
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of a source, one after the other, where a mask is true; all broadcast."""
    shape = broadcast_sizes([x, mask])
    if 0 in dimensions_of(source) or has_zero(shape):
        return expand(x, shape)
    mask = expand(converted(mask, DType.BOOL), shape)
    counts = op.CumSum(converted(flattened(mask), DType.INT64), np.array(0))
    # Places before the first true one have no number; what they would read is not used.
    numbers = reshape(op.Max(counts - np.array(1), np.array(0)), shape)
    # The source may have fewer elements than the mask has places, as long as the true ones are served.
    return op.Where(mask, op.Gather(flattened(source), numbers, axis=0), x)
