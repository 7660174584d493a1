"""Writing elements into a copy: slices, single positions, index tensors, masks; with and without a reduction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import scattering
from onnxsmith.algorithms.indexing import at_least_vector, masked_positions
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.scattering import Reduction
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    axis_of,
    cast,
    converted,
    counted,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    int64s,
    rank_of,
    reshape,
    sizes_of,
)
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType

#: The end of a slice that has none.
NO_END = 9223372036854775807
#: torch's words for reductions, some of which are two for one.
REDUCTIONS: dict[str, Reduction] = {
    "add": "sum",
    "sum": "sum",
    "mean": "mean",
    "multiply": "prod",
    "prod": "prod",
    "amax": "amax",
    "amin": "amin",
}


def _reduction(call: Call, reduce: str | None) -> Reduction | None:
    if reduce is None:
        return None
    reduction = REDUCTIONS[reduce]
    if reduction in ("prod", "amax", "amin") and call.is_complex:
        raise call.refuse("a product or an order of complex numbers that are written to one place")
    return reduction


# -- scatter ---------------------------------------------------------------------------------------------


SCATTERS = (
    *("aten.scatter.src", "aten.scatter.value", "aten.scatter.reduce", "aten.scatter.value_reduce"),
    *("aten.scatter_add.default", "aten.scatter_reduce.two"),
)


@translates(*SCATTERS, lifts=("x", "source"))
def scatter(
    call: Call,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Numeric,
    reduce: str | None = None,
    include_self: bool = True,
) -> Tensor:
    """torch's scatter: scalars count as vectors, and the source may be larger than the index."""
    if 0 in dimensions_of(index):
        return x  # an empty index may have any number of dimensions
    is_scalar = rank_of(x) == 0
    x, index = at_least_vector(x), at_least_vector(index)
    if isinstance(source, Tensor) and not isinstance(source, Number):
        written = at_least_vector(converted(source, dtype_of(x)))
    else:
        written = filled(sizes_of(index), source, dtype_of(x))
    axis = axis_of(dim, rank_of(x))
    reduction = _reduction(call, "add" if call.overload == "aten.scatter_add.default" else reduce)
    result = scattering.scatter(x, axis, index, written, reduction, include_self)
    return reshape(result, []) if is_scalar else result


# -- index_add and its like ------------------------------------------------------------------------------


@translates("aten.index_reduce.default")
@translates("aten.index_copy.default", lifts=("x", "source"))
def index_write(
    call: Call,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str | None = None,
    include_self: bool = True,
) -> Tensor:
    """A write of whole slices, at positions along one dimension."""
    is_scalar = rank_of(x) == 0
    x, source = at_least_vector(x), at_least_vector(converted(source, dtype_of(x)))
    axis = axis_of(dim, rank_of(x))
    result = scattering.index_write(x, axis, index, source, _reduction(call, reduce), include_self)
    return reshape(result, []) if is_scalar else result


@translates("aten.index_add.default", lifts=("x", "source"))
def index_add(
    call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Numeric = 1
) -> Translated:
    if isinstance(alpha, complex):
        raise call.refuse("a complex factor")
    if not (isinstance(alpha, int | float) and alpha == 1):
        source = _scaled(converted(source, call.dtype), alpha)
    return index_write(call, x, dim, index, source, "add")


def _scaled(source: Tensor, factor: Numeric) -> Tensor:
    if dtype_of(source) is DType.BOOL:
        return source & cast(factor, DType.BOOL)
    return source * cast(factor, dtype_of(source))


@translates("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor", lifts=("x", "value"))
def index_fill(call: Call, x: Tensor, dim: int, index: Tensor, value: Tensor) -> Translated:
    index, filling = at_least_vector(index), cast(value, call.dtype)
    rank = max(rank_of(x), 1)
    axis = axis_of(dim, rank)
    # A mask along one dimension, not a write at every place: a position may come twice, and has one gradient.
    size = call.size(x, axis) if rank_of(x) else 1
    is_filled = op.ScatterElements(
        filled([size], False, DType.BOOL), index, filled([call.size(index, 0)], True, DType.BOOL)
    )
    if rank_of(x) == 0:
        return op.Where(reshape(is_filled, []), filling, x)
    return op.Where(reshape(is_filled, [size if k == axis else 1 for k in range(rank)]), filling, x)


# -- slices ----------------------------------------------------------------------------------------------


@translates("aten.slice_scatter.default", lifts=("x", "source"))
def slice_scatter(
    call: Call,
    x: Tensor,
    source: Tensor,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> Translated:
    axis = axis_of(dim, rank_of(x))
    size = dimensions_of(x)[axis]
    is_open = end is None or (isinstance(end, int) and isinstance(size, int) and end >= size)
    if start in (None, 0) and step == 1 and isinstance(size, int) and is_open:
        return expand(converted(source, call.dtype), call.output_shape())
    first, last = 0 if start is None else start, NO_END if end is None else end
    positions = op.Slice(
        counted(call.size(x, axis)), int64s([first]), int64s([last]), np.array([0]), np.array([step])
    )
    return index_write(call, x, axis, positions, source)


@translates("aten.select_scatter.default", lifts=("x", "source"))
def select_scatter(call: Call, x: Tensor, source: Tensor, dim: int, index: Size) -> Translated:
    axis = axis_of(dim, rank_of(x))
    return index_write(call, x, axis, _vector(index), op.Unsqueeze(converted(source, call.dtype), [axis]))


def _vector(index: Size) -> Tensor:
    """A position as a tensor of one."""
    positions = int64s([index])
    return positions if isinstance(positions, Tensor) else op.Identity(positions)


# -- index_put, put --------------------------------------------------------------------------------------


@translates(
    *("aten.index_put.default", "aten._unsafe_index_put.default", "aten._index_put_impl.default"),
    lifts=("x", "values"),
)
def index_put(
    call: Call,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Translated:
    return scattering.put(x, indices, converted(values, call.dtype), accumulate)


@translates("aten._unsafe_masked_index_put_accumulate.default", lifts=("x", "values"))
def masked_index_put(
    call: Call, x: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Translated:
    if 0 in dimensions_of(x):
        return x
    counting = op.Where(mask, converted(values, call.dtype), cast(0, call.dtype))
    return scattering.put(x, masked_positions(x, indices), counting, True)


@translates("aten.put.default", lifts=("x", "source"))
def put(call: Call, x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Translated:
    return scattering.put_flat(x, index, converted(source, call.dtype), accumulate)


@translates("aten.masked_scatter.default", lifts=("x", "source"))
def masked_scatter(call: Call, x: Tensor, mask: Tensor, source: Tensor) -> Translated:
    return scattering.masked_scatter(x, mask, converted(source, call.dtype))
