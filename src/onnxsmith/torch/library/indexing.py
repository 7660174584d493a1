"""Reading elements by index tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import indexing
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    axis_of,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    int64s,
    rank_of,
    reshape,
)
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.registry import translates, translates_both
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Element types whose nonzero elements ONNX Runtime finds as they are; others are asked whether they are true.
_FOUND_AS_THEY_ARE = (DType.BOOL, DType.UINT8, DType.INT32, DType.INT64, DType.FLOAT)


@translates("aten.gather.default", lifts=True)
def gather(call: Call, x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Translated:
    index = cast(index, DType.INT64)
    if 0 in dimensions_of(index):
        return filled(call.output_shape(), 0, dtype_of(x))  # an empty index may have any number of dimensions
    if rank_of(index) == 0:
        return x if rank_of(x) == 0 else op.Gather(x, index, axis=0)
    if rank_of(x) == 0:
        return expand(x, call.output_shape())
    return op.GatherElements(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.index_select.default", lifts=True)
def index_select(call: Call, x: Tensor, dim: int, index: Tensor) -> Translated:
    index = indexing.at_least_vector(cast(index, DType.INT64))
    if rank_of(x) == 0:
        return reshape(op.Gather(indexing.at_least_vector(x), index, axis=0), [])
    return op.Gather(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.take.default", lifts=True)
def take(call: Call, x: Tensor, index: Tensor) -> Translated:
    return op.Gather(indexing.flattened(x), cast(index, DType.INT64), axis=0)


# -- where elements are ----------------------------------------------------------------------------------


def _is_nonzero(x: Given) -> Tensor:
    """The truth of each element, where that says the same as the element, or the element itself."""
    if isinstance(x, Complex):
        return op.Or(cast(x.real, DType.BOOL), cast(x.imag, DType.BOOL))
    return x if x.dtype in _FOUND_AS_THEY_ARE else cast(x, DType.BOOL)


@translates_both("aten.nonzero.default", "aten.argwhere.default")
def nonzero(call: Call, x: Given) -> Translated:
    return indexing.positions(_is_nonzero(x))


@translates_both("aten.nonzero_numpy.default", "aten.where.default")
def nonzero_by_dimension(call: Call, x: Given) -> Translated:
    rows = indexing.positions_by_dimension(_is_nonzero(x))
    return [op.Gather(rows, np.array(k), axis=0) for k in range(len(call.outputs))]


@translates_both("aten.nonzero_static.default")
def nonzero_static(call: Call, x: Given, *, size: Size, fill_value: int = -1) -> Translated:
    rest = filled(call.output_shape(), fill_value, DType.INT64)
    return op.Slice(
        op.Concat(indexing.positions(_is_nonzero(x)), rest, axis=0),
        np.array([0]),
        int64s([size]),
        np.array([0]),
    )


# -- masks -----------------------------------------------------------------------------------------------


@translates("aten.masked_select.default", lifts=True)
def masked_select(call: Call, x: Tensor, mask: Tensor) -> Translated:
    x, mask = indexing.broadcast_together([x, mask])
    return op.Compress(indexing.at_least_vector(x), indexing.flattened(cast(mask, DType.BOOL)))


# -- index tensors ---------------------------------------------------------------------------------------


@translates("aten.index.Tensor", "aten._unsafe_index.Tensor", "aten._index.Tensor", lifts=True)
def index(call: Call, x: Tensor, indices: Sequence[Tensor | None]) -> Translated:
    return indexing.indexed(x, indices)


@translates("aten._unsafe_masked_index.default", lifts=("x", "fill"))
def masked_index(
    call: Call, x: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Numeric
) -> Translated:
    if 0 in dimensions_of(x):
        return filled(call.output_shape(), fill, call.dtype)
    return op.Where(mask, indexing.indexed(x, indexing.within(x, indices, 0)), cast(fill, call.dtype))


# -- repeating -------------------------------------------------------------------------------------------


@translates("aten.repeat_interleave.self_int", lifts=True)
def repeat_each(
    call: Call, x: Tensor, repeats: Size, dim: int | None = None, *, output_size: Size | None = None
) -> Translated:
    x = indexing.flattened(x) if dim is None else indexing.at_least_vector(x)
    rank = rank_of(x)
    axis = axis_of(dim or 0, rank)
    counts = int64s([repeats if k == axis + 1 else 1 for k in range(rank + 1)])
    return reshape(op.Tile(op.Unsqueeze(x, [axis + 1]), counts), call.output_shape())


@translates("aten.repeat_interleave.self_Tensor", lifts=True)
def repeat_by_tensor(
    call: Call,
    x: Tensor,
    repeats: Tensor,
    dim: int | None = None,
    *,
    output_size: Size | None = None,
) -> Translated:
    x = indexing.flattened(x) if dim is None else indexing.at_least_vector(x)
    axis = axis_of(dim or 0, rank_of(x))
    repeats = indexing.at_least_vector(cast(repeats, DType.INT64))
    if dimensions_of(repeats) != (dimensions_of(x)[axis],):
        repeats = expand(repeats, [call.size(x, axis)])
    return op.Gather(x, indexing.repeated_positions(repeats, output_size), axis=axis)


@translates("aten.repeat_interleave.Tensor")
def repeat_positions(call: Call, repeats: Tensor, *, output_size: Size | None = None) -> Translated:
    return indexing.repeated_positions(cast(repeats, DType.INT64), output_size)
