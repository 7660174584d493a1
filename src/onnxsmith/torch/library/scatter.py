"""Writing elements into a copy: slices, single positions, index tensors, masks; with and without a reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from onnxsmith.algorithms.values import Numeric, Size, dimensions_of, dtype_of
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.indexing import (
    at_least_vector,
    counted,
    dimensions_before,
    flattened,
    index_tuples,
    is_mask,
    masked_positions,
    without_masks,
)
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import (
    Translated,
    axis_of,
    cast,
    expand,
    filled,
    has_zero,
    int64s,
    rank_of,
    reshape,
)
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
NO_END = 9223372036854775807
#: torch's words for reductions -> ONNX's.
REDUCTIONS = {
    "add": "add",
    "sum": "add",
    "mean": "add",
    "multiply": "mul",
    "prod": "mul",
    "amax": "max",
    "amin": "min",
}
#: The same on truth values, of which ONNX Runtime knows no order.
ON_TRUTH = {"max": "add", "min": "mul"}
HALVES = (DType.FLOAT16, DType.BFLOAT16)

#: Data, what is written, and a reduction -> the data with that written.
Write = Callable[[TensorValue, TensorValue, str], TensorValue]


def _reducing(x: TensorValue, source: TensorValue, reduction: str, write: Write) -> TensorValue:
    """A write in an element type that ONNX Runtime reduces in; NaN is the greatest and the least, as in torch."""
    dtype = dtype_of(x)
    if reduction == "none":
        return write(x, source, reduction)
    if dtype is DType.BOOL:
        return write(x, source, ON_TRUTH.get(reduction, reduction))
    if dtype in HALVES:
        return cast(_reducing(cast(x, DType.FLOAT), cast(source, DType.FLOAT), reduction, write), dtype)
    result = write(x, source, reduction)
    if reduction not in ("max", "min") or not dtype.is_float:
        return result
    is_missing = write(op.IsNaN(x), op.IsNaN(source), "add")
    return op.Where(is_missing, cast(float("nan"), dtype), result)


def by_elements(index: TensorValue, axis: int) -> Write:
    """A writer for an index of as many dimensions as the data has, a position for each element written."""
    return lambda x, source, reduction: op.ScatterElements(x, index, source, axis=axis, reduction=reduction)


def by_tuples(tuples: TensorValue) -> Write:
    """A writer for positions along the first dimensions, in the last dimension of one tensor."""
    return lambda x, source, reduction: op.ScatterND(x, tuples, source, reduction=reduction)


def along(call: Call, index: TensorValue, source: TensorValue, axis: int) -> Write:
    """A writer for positions along one dimension, each for a whole slice of the source."""
    index = at_least_vector(cast(index, DType.INT64))
    rank = rank_of(source)
    if axis == 0:
        return by_tuples(op.Unsqueeze(index, [1]))
    column = op.Unsqueeze(index, [k for k in range(rank) if k != axis])
    return by_elements(expand(column, call.shape_of(source)), axis)


def _reduced(
    call: Call,
    x: TensorValue,
    source: TensorValue,
    write: Write,
    reduce: str,
    include_self: bool,
    neutral: float,
) -> TensorValue:
    """A write with one of torch's reductions; `neutral` is what is written first where the data does not count."""
    if reduce in ("prod", "multiply", "amax", "amin") and call.is_complex:
        raise call.refuse("a product or an order of complex numbers that are written to one place")
    dtype = dtype_of(x)
    if dtype in HALVES:
        x, source = cast(x, DType.FLOAT), cast(source, DType.FLOAT)
    if not include_self:
        x = write(x, filled(call.shape_of(source), neutral, dtype_of(x)), "none")
    result = _reducing(x, source, REDUCTIONS[reduce], write)
    if reduce == "mean":
        ones = filled(call.shape_of(source), 1, dtype_of(x))
        counts = write(filled(call.shape_of(x), int(include_self), dtype_of(x)), ones, "add")
        result = _quotient(result, op.Max(counts, cast(1, dtype_of(x))))
    return cast(result, dtype)


def _quotient(total: TensorValue, count: TensorValue) -> TensorValue:
    if dtype_of(total).is_float:
        return op.Div(total, count)
    return op.Div(op.Sub(total, op.Mod(total, count)), count)  # rounds down, also below zero


def _neutral(reduce: str, dtype: DType) -> bool | int | float:
    """What changes nothing in a reduction."""
    if reduce in ("amax", "amin"):
        if dtype is DType.BOOL:
            return reduce == "amin"
        if dtype.is_float:
            return float("-inf" if reduce == "amax" else "inf")
        limits = np.iinfo(dtype.numpy)
        return limits.min if reduce == "amax" else limits.max
    return 1 if reduce in ("prod", "multiply") else 0


# -- scatter ---------------------------------------------------------------------------------------------


def _scatter(
    call: Call,
    x: TensorValue,
    dim: int,
    index: TensorValue,
    source: Numeric,
    reduce: str | None,
    include_self: bool = True,
) -> TensorValue:
    """torch's scatter: scalars count as vectors, and the source may be larger than the index."""
    if 0 in dimensions_of(index):
        return x  # an empty index may have any number of dimensions
    is_scalar = rank_of(x) == 0
    dtype = dtype_of(x)
    x, index = at_least_vector(x), at_least_vector(cast(index, DType.INT64))
    axis = axis_of(dim, rank_of(x))
    if isinstance(source, TensorValue) and not isinstance(source, Number):
        written = _cropped(call, at_least_vector(cast(source, dtype)), index)
    else:
        written = filled(call.shape_of(index), source, dtype)
    write = by_elements(index, axis)
    if reduce is None:
        result = write(x, written, "none")
    else:
        result = _reduced(call, x, written, write, reduce, include_self, _neutral(reduce, dtype))
    return reshape(result, []) if is_scalar else result


def _cropped(call: Call, source: TensorValue, index: TensorValue) -> TensorValue:
    """The part of a source that an index has positions for."""
    sizes = list(zip(dimensions_of(source), dimensions_of(index), strict=True))
    axes = [k for k, (mine, theirs) in enumerate(sizes) if mine is None or mine != theirs]
    if not axes:
        return source
    ends = int64s([call.size(index, k) for k in axes])
    return op.Slice(source, np.zeros(len(axes), np.int64), ends, np.array(axes))


@translates("aten.scatter.src", "aten.scatter.value", lifts=("x", "source"))
def scatter(call: Call, x: TensorValue, dim: int, index: TensorValue, source: Numeric) -> Translated:
    return _scatter(call, x, dim, index, source, None)


@translates("aten.scatter.reduce", "aten.scatter.value_reduce", lifts=("x", "source"))
def scatter_with(
    call: Call, x: TensorValue, dim: int, index: TensorValue, source: Numeric, *, reduce: str
) -> Translated:
    return _scatter(call, x, dim, index, source, reduce)


@translates("aten.scatter_add.default", lifts=("x", "source"))
def scatter_add(call: Call, x: TensorValue, dim: int, index: TensorValue, source: Numeric) -> Translated:
    return _scatter(call, x, dim, index, source, "add")


@translates("aten.scatter_reduce.two", lifts=("x", "source"))
def scatter_reduce(
    call: Call,
    x: TensorValue,
    dim: int,
    index: TensorValue,
    source: Numeric,
    reduce: str,
    *,
    include_self: bool = True,
) -> Translated:
    return _scatter(call, x, dim, index, source, reduce, include_self)


# -- index_add and its like ------------------------------------------------------------------------------


def _index_write(
    call: Call,
    x: TensorValue,
    dim: int,
    index: TensorValue,
    source: TensorValue,
    reduce: str | None,
    include_self: bool = True,
) -> TensorValue:
    """A write of whole slices, at positions along one dimension."""
    is_scalar = rank_of(x) == 0
    dtype = dtype_of(x)
    x, source = at_least_vector(x), at_least_vector(cast(source, dtype))
    axis = axis_of(dim, rank_of(x))
    write = along(call, index, source, axis)
    if reduce is None:
        result = write(x, source, "none")
    else:
        result = _reduced(call, x, source, write, reduce, include_self, _neutral(reduce, dtype))
    return reshape(result, []) if is_scalar else result


@translates("aten.index_add.default", lifts=("x", "source"))
def index_add(
    call: Call, x: TensorValue, dim: int, index: TensorValue, source: TensorValue, *, alpha: Numeric = 1
) -> Translated:
    if isinstance(alpha, complex):
        raise call.refuse("a complex factor")
    if not (isinstance(alpha, int | float) and alpha == 1):
        source = _scaled(cast(source, call.dtype), alpha)
    return _index_write(call, x, dim, index, source, "add")


def _scaled(source: TensorValue, factor: Numeric) -> TensorValue:
    if dtype_of(source) is DType.BOOL:
        return op.And(source, cast(factor, DType.BOOL))
    return op.Mul(source, cast(factor, dtype_of(source)))


@translates("aten.index_copy.default", lifts=("x", "source"))
def index_copy(call: Call, x: TensorValue, dim: int, index: TensorValue, source: TensorValue) -> Translated:
    return _index_write(call, x, dim, index, source, None)


@translates("aten.index_reduce.default")
def index_reduce(
    call: Call,
    x: TensorValue,
    dim: int,
    index: TensorValue,
    source: TensorValue,
    reduce: str,
    *,
    include_self: bool = True,
) -> Translated:
    return _index_write(call, x, dim, index, source, reduce, include_self)


@translates("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor", lifts=("x", "value"))
def index_fill(call: Call, x: TensorValue, dim: int, index: TensorValue, value: TensorValue) -> Translated:
    index = at_least_vector(index)
    shape = call.shape_of(x) or [1]
    shape[axis_of(dim, len(shape))] = call.size(index, 0)
    return _index_write(call, x, dim, index, filled(shape, value, call.dtype), None)


# -- slices ----------------------------------------------------------------------------------------------


@translates("aten.slice_scatter.default", lifts=("x", "source"))
def slice_scatter(
    call: Call,
    x: TensorValue,
    source: TensorValue,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> Translated:
    axis = axis_of(dim, rank_of(x))
    size = dimensions_of(x)[axis]
    is_open = end is None or (isinstance(end, int) and isinstance(size, int) and end >= size)
    if start in (None, 0) and step == 1 and isinstance(size, int) and is_open:
        return expand(cast(source, call.dtype), call.output_shape())
    first, last = 0 if start is None else start, NO_END if end is None else end
    positions = op.Slice(
        counted(call.size(x, axis)), int64s([first]), int64s([last]), np.array([0]), np.array([step])
    )
    return _index_write(call, x, axis, positions, source, None)


@translates("aten.select_scatter.default", lifts=("x", "source"))
def select_scatter(call: Call, x: TensorValue, source: TensorValue, dim: int, index: Size) -> Translated:
    axis = axis_of(dim, rank_of(x))
    return _index_write(call, x, axis, _vector(index), op.Unsqueeze(cast(source, call.dtype), [axis]), None)


def _vector(index: Size) -> TensorValue:
    """A position as a tensor of one."""
    positions = int64s([index])
    return positions if isinstance(positions, TensorValue) else op.Identity(positions)


# -- index_put, put --------------------------------------------------------------------------------------


@translates(
    *("aten.index_put.default", "aten._unsafe_index_put.default", "aten._index_put_impl.default"),
    lifts=("x", "values"),
)
def index_put(
    call: Call,
    x: TensorValue,
    indices: Sequence[TensorValue | None],
    values: TensorValue,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Translated:
    return _put(call, x, indices, cast(values, call.dtype), accumulate)


@translates("aten._unsafe_masked_index_put_accumulate.default", lifts=("x", "values"))
def masked_index_put(
    call: Call, x: TensorValue, mask: TensorValue, indices: Sequence[TensorValue | None], values: TensorValue
) -> Translated:
    if 0 in dimensions_of(x):
        return x
    counting = op.Where(mask, cast(values, call.dtype), cast(0, call.dtype))
    return _put(call, x, masked_positions(call, x, indices), counting, True)


def _put(
    call: Call, x: TensorValue, indices: Sequence[TensorValue | None], values: TensorValue, accumulate: bool
) -> TensorValue:
    """What `x[indices] = values` makes of `x`."""
    given = [k for k, each in enumerate(indices) if each is not None]
    if not given:
        values = expand(values, call.output_shape())
        return op.Add(x, values) if accumulate else values
    first_index = indices[given[0]]
    if len(given) == 1 and first_index is not None and is_mask(first_index) and not accumulate:
        chosen = _chosen(x, first_index, given[0], values)
        if chosen is not None:
            return chosen
    by_axis = {k: each for k, each in enumerate(without_masks(indices)) if each is not None}
    axes = list(by_axis)
    rest = [k for k in range(rank_of(x)) if k not in axes]
    order = [*axes, *rest]
    tuples = index_tuples(call, list(by_axis.values()))
    width = rank_of(tuples) - 1
    updates = _in_front(values, width, dimensions_before(axes), len(rest))
    sizes = [*call.shape_of(tuples)[:-1], *(call.size(x, k) for k in rest)]
    is_in_order = order == sorted(order)
    first = x if is_in_order else op.Transpose(x, perm=order)
    reduction = "add" if accumulate else "none"
    result = _reducing(first, expand(updates, sizes), reduction, by_tuples(tuples))
    return result if is_in_order else op.Transpose(result, perm=[order.index(k) for k in range(len(order))])


def _in_front(values: TensorValue, width: int, before: int, rest: int) -> TensorValue:
    """Values whose dimensions of the index tensors stand first, not after `before` others."""
    if not before:
        return values
    missing = width + rest - rank_of(values)
    if missing > 0:
        values = op.Unsqueeze(values, list(range(missing)))
    order = [*range(before, before + width), *range(before), *range(before + width, width + rest)]
    return op.Transpose(values, perm=order)


def _chosen(x: TensorValue, mask: TensorValue, axis: int, values: TensorValue) -> TensorValue | None:
    """What a mask makes of values that are the same for all its elements; None where they differ."""
    after = rank_of(x) - axis - rank_of(mask)
    rank = rank_of(values)
    if rank > after:
        place = rank - after - 1
        if dimensions_of(values)[place] != 1:
            return None
        added = list(range(place, place + rank_of(mask) - 1))
        values = op.Unsqueeze(values, added) if added else values
    mask = cast(mask, DType.BOOL)
    if after:
        mask = op.Unsqueeze(mask, list(range(rank_of(mask), rank_of(mask) + after)))
    return op.Where(mask, values, x)


@translates("aten.put.default", lifts=("x", "source"))
def put(
    call: Call, x: TensorValue, index: TensorValue, source: TensorValue, accumulate: bool = False
) -> Translated:
    write = by_elements(flattened(cast(index, DType.INT64)), 0)
    source = flattened(cast(source, call.dtype))
    result = _reducing(flattened(x), source, "add" if accumulate else "none", write)
    return reshape(result, call.output_shape())


@translates("aten.masked_scatter.default", lifts=("x", "source"))
def masked_scatter(call: Call, x: TensorValue, mask: TensorValue, source: TensorValue) -> Translated:
    shape = call.output_shape()
    if 0 in dimensions_of(source) or has_zero(shape):
        return expand(x, shape)
    mask = expand(cast(mask, DType.BOOL), shape)
    counts = op.CumSum(cast(flattened(mask), DType.INT64), np.array(0))
    # Places before the first true one have no number; what they would read is not used.
    numbers = reshape(op.Max(op.Sub(counts, np.array(1)), np.array(0)), shape)
    # The source may have fewer elements than the mask has places, as long as the true ones are served.
    return op.Where(mask, op.Gather(flattened(cast(source, call.dtype)), numbers, axis=0), x)
