"""Views that a reshape does not give: diagonals, windows, strides over memory; and writing through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from typing import cast as typed

import numpy as np
import torch
from torch._prims_common import is_contiguous_or_false

from onnxsmith.algorithms import diagonals
from onnxsmith.algorithms.indexing import at_least_vector, flattened
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    axis_of,
    constant,
    converted,
    counted,
    rank_of,
    reshape,
)
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import TorchSize, Translated
from onnxsmith.torch.library.padding import padded
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

# -- diagonals -------------------------------------------------------------------------------------------


@translates("aten.diagonal.default", "aten.diagonal_copy.default", lifts=True)
def diagonal(call: Call, x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Translated:
    return diagonals.diagonal(x, offset, dim1, dim2, call.output_shape()[-1])


@translates("aten.linalg_diagonal.default", lifts=True)
def matrix_diagonal(call: Call, x: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Translated:
    return diagonals.diagonal(x, offset, dim1, dim2, call.output_shape()[-1])


@translates("aten.diagonal_scatter.default", lifts=("x", "source"))
def diagonal_scatter(
    call: Call, x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Translated:
    return diagonals.diagonal_scatter(x, converted(source, call.dtype), offset, dim1, dim2)


@translates("aten.diag_embed.default", lifts=True)
def diag_embed(call: Call, x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Translated:
    rank = call.rank
    first, second = axis_of(dim1, rank), axis_of(dim2, rank)
    order = [*(k for k in range(rank) if k not in (first, second)), first, second]
    return diagonals.moved_back(diagonals.embedded(x, offset), order)


@translates("aten.diag.default", lifts=True)
def diag(call: Call, x: Tensor, offset: int = 0) -> Translated:
    if rank_of(x) == 1:
        return diagonals.embedded(x, offset)
    return diagonals.diagonal(x, offset, length=call.output_shape()[0])


@translates("aten.trace.default", lifts=True)
def trace(call: Call, x: Tensor) -> Translated:
    rows, columns = call.input_fake().shape
    shorter = typed("TorchSize", torch.sym_min(rows, columns))  # pyright: ignore[reportUnknownMemberType]  # torch does not annotate it
    length = call.sizes.size(shorter)
    return op.ReduceSum(converted(diagonals.diagonal(x, length=length), call.dtype), [0], keepdims=0)


# -- windows ---------------------------------------------------------------------------------------------


@translates("aten.unfold.default", "aten.unfold_copy.default", lifts=True)
def unfold(call: Call, x: Tensor, dim: int, size: int, step: int) -> Translated:
    rank = rank_of(x)
    if rank == 0:
        return op.Slice(at_least_vector(x), np.array([0]), np.array([size]), np.array([0]))
    axis = axis_of(dim, rank)
    count = call.output_shape()[axis]
    if isinstance(count, int):
        places = np.arange(count)[:, None] * step + np.arange(size)
    else:
        starts = op.Unsqueeze(counted(count), [1]) * np.array(step)
        places = starts + np.arange(size)[None, :]
    windows = op.Gather(x, places, axis=axis)
    order = [k for k in range(rank + 1) if k != axis + 1]
    return windows if axis == rank - 1 else op.Transpose(windows, perm=[*order, axis + 1])


# -- strides ---------------------------------------------------------------------------------------------


def _places(layout: Sequence[int]) -> np.ndarray[Any, Any]:
    """The place in memory of each element of a tensor, of which the sizes, the strides and the offset are given."""
    *steps, offset = layout
    rank = len(steps) // 2
    result = np.full((), offset, np.int64)
    for size, stride in zip(steps[:rank], steps[rank:], strict=True):
        result = result[..., None] + np.arange(size, dtype=np.int64) * stride
    return result


def _strided_index(call: Call, sizes: Sequence[Size], strides: Sequence[Size], offset: Size | None) -> Tensor:
    """For each element of a strided view, its number among the elements of the argument that it is a view of."""
    fake = call.input_fake()
    own = fake.storage_offset()
    offset = call.sizes.size(own) if offset is None else offset
    theirs: list[TorchSize] = [*fake.shape, *fake.stride(), own]
    known = [each for each in (*theirs, *sizes, *strides, offset) if isinstance(each, int)]
    if len(known) == len(theirs) + 2 * len(sizes) + 1:
        held = _places(known[: len(theirs)]).reshape(-1)
        wanted = _places(known[len(theirs) :])
        numbers = np.full(max(held.max(initial=0), wanted.max(initial=0)) + 1, -1, np.int64)
        numbers[held] = np.arange(held.size)
        found = numbers[wanted]
        if (found < 0).any():
            raise call.refuse("a view of memory that is not the tensor's own")
        return constant(found)
    if not is_contiguous_or_false(fake) or not (isinstance(own, int) and own == 0):
        raise call.refuse("strides over a tensor of unknown size that is not contiguous")
    index = cast(offset, DType.INT64)
    for size, stride in zip(sizes, strides, strict=True):
        steps = counted(size) * cast(stride, DType.INT64)
        index = op.Add(op.Unsqueeze(index, [-1]) if isinstance(index, Tensor) else index, steps)
    return index if isinstance(index, Tensor) else constant(index)


@translates("aten.as_strided.default", "aten.as_strided_copy.default", lifts=True)
def as_strided(
    call: Call,
    x: Tensor,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None = None,
) -> Translated:
    return op.Gather(flattened(x), _strided_index(call, size, stride, storage_offset), axis=0)


@translates("aten.as_strided_scatter.default", lifts=("x", "source"))
def as_strided_scatter(
    call: Call,
    x: Tensor,
    source: Tensor,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None = None,
) -> Translated:
    index = flattened(_strided_index(call, size, stride, storage_offset))
    written = op.ScatterElements(flattened(x), index, flattened(cast(source, call.dtype)), axis=0)
    return reshape(written, call.output_shape())


@translates("aten.resize.default", "aten.resize_as.default", lifts=True)
def resize(call: Call, x: Tensor, size: Sequence[Size] | Tensor, *_: str) -> Translated:
    if not is_contiguous_or_false(call.input_fake()):
        raise call.refuse("resizing a tensor that is not contiguous")
    sizes, before = call.output_shape(), call.shape_of(x)
    known, known_before = ([each for each in shape if isinstance(each, int)] for shape in (sizes, before))
    if len(known) < len(sizes) or len(known_before) < len(before):
        raise call.refuse("resizing between sizes that are not known")
    missing = math.prod(known) - math.prod(known_before)
    # What is new holds anything in torch; zero is as good.
    return reshape(padded(flattened(x), [0, missing]), sizes)
