"""Reading elements by index tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    axis_of,
    constant,
    dimensions_of,
    dtype_of,
    expand,
    filled,
    int64s,
    rank_of,
    reshape,
)
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import as_size, cast
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

#: Element types whose nonzero elements ONNX Runtime finds as they are; others are asked whether they are true.
_FOUND_AS_THEY_ARE = (DType.BOOL, DType.UINT8, DType.INT32, DType.INT64, DType.FLOAT)
#: An index for each of the first dimensions; None stands for all of one.
Indices: TypeAlias = "Sequence[TensorValue | None]"


def counted(length: Size) -> TensorValue:
    """0, 1, 2, … up to a length, which the model may have to compute."""
    if isinstance(length, int):
        return constant(np.arange(length, dtype=np.int64))
    return op.Range(np.int64(0), cast(length, DType.INT64), np.int64(1))


def flattened(x: TensorValue) -> TensorValue:
    """The elements as a vector."""
    return x if rank_of(x) == 1 else op.Reshape(x, np.array([-1], np.int64))


def at_least_vector(x: TensorValue) -> TensorValue:
    """A scalar as a vector of one; anything else as it is."""
    return op.Reshape(x, np.array([1], np.int64)) if rank_of(x) == 0 else x


@translates("aten.gather.default", lifts=True)
def gather(
    call: Call, x: TensorValue, dim: int, index: TensorValue, *, sparse_grad: bool = False
) -> Translated:
    index = cast(index, DType.INT64)
    if 0 in dimensions_of(index):
        return filled(call.output_shape(), 0, dtype_of(x))  # an empty index may have any number of dimensions
    if rank_of(index) == 0:
        return x if rank_of(x) == 0 else op.Gather(x, index, axis=0)
    if rank_of(x) == 0:
        return expand(x, call.output_shape())
    return op.GatherElements(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.index_select.default", lifts=True)
def index_select(call: Call, x: TensorValue, dim: int, index: TensorValue) -> Translated:
    index = at_least_vector(cast(index, DType.INT64))
    if rank_of(x) == 0:
        return reshape(op.Gather(at_least_vector(x), index, axis=0), [])
    return op.Gather(x, index, axis=axis_of(dim, rank_of(x)))


@translates("aten.take.default", lifts=True)
def take(call: Call, x: TensorValue, index: TensorValue) -> Translated:
    return op.Gather(flattened(x), cast(index, DType.INT64), axis=0)


# -- where elements are ----------------------------------------------------------------------------------


def _is_nonzero(x: Given) -> TensorValue:
    """The truth of each element, where that says the same as the element, or the element itself."""
    if isinstance(x, Complex):
        return op.Or(cast(x.real, DType.BOOL), cast(x.imag, DType.BOOL))
    return x if x.dtype in _FOUND_AS_THEY_ARE else cast(x, DType.BOOL)


def _nonzero(x: TensorValue) -> TensorValue:
    """The positions of the elements that are not zero: a row for each dimension."""
    return op.NonZero(at_least_vector(x))


@translates_complex("aten.nonzero.default", "aten.argwhere.default")
@translates("aten.nonzero.default", "aten.argwhere.default")
def nonzero(call: Call, x: Given) -> Translated:
    return _positions(_is_nonzero(x))


def _positions(x: TensorValue) -> TensorValue:
    """The positions of the elements that are not zero: a row for each of them."""
    if rank_of(x) == 0:
        # A scalar has one position, which takes no numbers to say.
        return op.Slice(op.Transpose(_nonzero(x), perm=[1, 0]), [0], [0], [1])
    return op.Transpose(_nonzero(x), perm=[1, 0])


@translates_complex("aten.nonzero_numpy.default", "aten.where.default")
@translates("aten.nonzero_numpy.default", "aten.where.default")
def nonzero_by_dimension(call: Call, x: Given) -> Translated:
    rows = _nonzero(_is_nonzero(x))
    return [op.Gather(rows, np.array(k), axis=0) for k in range(len(call.outputs))]


@translates_complex("aten.nonzero_static.default")
@translates("aten.nonzero_static.default")
def nonzero_static(call: Call, x: Given, *, size: Size, fill_value: int = -1) -> Translated:
    rest = filled(call.output_shape(), fill_value, DType.INT64)
    return op.Slice(
        op.Concat(_positions(_is_nonzero(x)), rest, axis=0), np.array([0]), int64s([size]), np.array([0])
    )


# -- masks -----------------------------------------------------------------------------------------------


def is_mask(index: TensorValue) -> bool:
    """Whether an index says for each element if it is meant."""
    return index.dtype in (DType.BOOL, DType.UINT8)


@translates("aten.masked_select.default", lifts=True)
def masked_select(call: Call, x: TensorValue, mask: TensorValue) -> Translated:
    x, mask = broadcast_together(call, [x, mask])
    return op.Compress(at_least_vector(x), flattened(cast(mask, DType.BOOL)))


def without_masks(indices: Indices) -> list[TensorValue | None]:
    """Indices in which a mask is the positions of its true elements, one tensor for each of its dimensions."""
    result: list[TensorValue | None] = []
    for each in indices:
        if each is None or not is_mask(each):
            result.append(None if each is None else cast(each, DType.INT64))
            continue
        rows = _nonzero(each)
        result += [op.Gather(rows, np.array(k), axis=0) for k in range(rank_of(each))]
    return result


# -- index tensors ---------------------------------------------------------------------------------------


@translates("aten.index.Tensor", "aten._unsafe_index.Tensor", "aten._index.Tensor", lifts=True)
def index(call: Call, x: TensorValue, indices: Indices) -> Translated:
    return indexed(call, x, indices)


def indexed(call: Call, x: TensorValue, indices: Indices) -> TensorValue:
    """What `x[indices]` is, where None stands for a whole dimension."""
    given = [k for k, each in enumerate(indices) if each is not None]
    if not given:
        return x
    only = indices[given[0]] if len(given) == 1 else None
    if only is not None and is_mask(only):
        selected = _selected(x, only, given[0])
        if selected is not None:
            return selected
    by_axis = {k: each for k, each in enumerate(without_masks(indices)) if each is not None}
    axes, tensors = list(by_axis), list(by_axis.values())
    if len(axes) == 1:
        return op.Gather(x, tensors[0], axis=axes[0])
    rest = [k for k in range(rank_of(x)) if k not in axes]
    first = x if axes == list(range(len(axes))) else op.Transpose(x, perm=[*axes, *rest])
    result = op.GatherND(first, index_tuples(call, tensors))
    before = dimensions_before(axes)
    if not before:
        return result
    width = max(rank_of(each) for each in tensors)
    order = [*range(width, width + before), *range(width), *range(width + before, rank_of(result))]
    return op.Transpose(result, perm=order)


def _selected(x: TensorValue, mask: TensorValue, axis: int) -> TensorValue | None:
    """What a single mask selects, in one step; None where it takes more."""
    mask = cast(mask, DType.BOOL)
    if rank_of(mask) == 1:
        return op.Compress(x, mask, axis=axis)
    return op.Compress(x, flattened(mask)) if rank_of(mask) == rank_of(x) else None


def dimensions_before(axes: Sequence[int]) -> int:
    """How many dimensions of the result stand before those of the index tensors.

    Indexed dimensions that stand together leave their result in their place; others leave it in front.
    """
    is_together = list(axes) == list(range(axes[0], axes[0] + len(axes)))
    return axes[0] if is_together else 0


def index_tuples(call: Call, tensors: Sequence[TensorValue]) -> TensorValue:
    """Index tensors, broadcast, as one tensor whose last dimension holds an index for each axis."""
    # GatherND and ScatterND count negative indices from the end, as torch does.
    tensors = broadcast_together(call, tensors)
    return op.Concat(*[op.Unsqueeze(each, [-1]) for each in tensors], axis=-1)


def broadcast_sizes(call: Call, tensors: Sequence[TensorValue]) -> list[Size]:
    """The shape that tensors broadcast to: ints and numbers of the model."""
    rank = max(rank_of(each) for each in tensors)
    result: list[Size] = [1] * rank
    known: list[Dimension] = [1] * rank
    for tensor in tensors:
        for axis in range(-rank_of(tensor), 0):
            dimension = dimensions_of(tensor)[axis]
            if dimension == 1 or (isinstance(result[axis], int) and result[axis] != 1):
                continue
            size = call.size(tensor, axis)
            is_other = not isinstance(size, int) and known[axis] not in (1, dimension)
            result[axis] = _wider(result[axis], size) if is_other else size
            known[axis] = dimension
    return result


def _wider(one: Size, other: Size) -> Size:
    """Of two sizes that broadcast, the one that is not 1, such as that of a slice beside the whole."""
    first, second = cast(one, DType.INT64), cast(other, DType.INT64)
    chosen = op.Where(op.Equal(first, np.int64(1)), second, first)
    return as_size(chosen)


def broadcast_together(call: Call, tensors: Sequence[TensorValue]) -> list[TensorValue]:
    """Tensors in the shape that they broadcast to."""
    if len({each.type.shape for each in tensors}) == 1 and None not in dimensions_of(tensors[0]):
        return list(tensors)
    sizes = broadcast_sizes(call, tensors)
    return [expand(each, sizes) for each in tensors]


def _within(x: TensorValue, call: Call, indices: Indices, least_of_one: int) -> list[TensorValue | None]:
    """Indices moved into the bounds of their dimensions; the least is a multiple of the dimension's size."""
    result: list[TensorValue | None] = []
    for axis, each in enumerate(indices):
        if each is None:
            result.append(None)
            continue
        size = call.size(x, axis)
        least, most = cast(least_of_one * size, DType.INT64), cast(size - 1, DType.INT64)
        result.append(op.Min(op.Max(cast(each, DType.INT64), least), most))
    return result


@translates("aten._unsafe_masked_index.default", lifts=("x", "fill"))
def masked_index(
    call: Call, x: TensorValue, mask: TensorValue, indices: Indices, fill: Numeric
) -> Translated:
    if 0 in dimensions_of(x):
        return filled(call.output_shape(), fill, call.dtype)
    return op.Where(mask, indexed(call, x, _within(x, call, indices, 0)), cast(fill, call.dtype))


def masked_positions(call: Call, x: TensorValue, indices: Indices) -> list[TensorValue | None]:
    """Indices of which those out of bounds are moved to the nearest element; a mask says that they do not count."""
    return _within(x, call, indices, -1)


# -- repeating -------------------------------------------------------------------------------------------


@translates("aten.repeat_interleave.self_int", lifts=True)
def repeat_each(
    call: Call, x: TensorValue, repeats: Size, dim: int | None = None, *, output_size: Size | None = None
) -> Translated:
    x = flattened(x) if dim is None else at_least_vector(x)
    rank = rank_of(x)
    axis = axis_of(dim or 0, rank)
    counts = int64s([repeats if k == axis + 1 else 1 for k in range(rank + 1)])
    return reshape(op.Tile(op.Unsqueeze(x, [axis + 1]), counts), call.output_shape())


@translates("aten.repeat_interleave.self_Tensor", lifts=True)
def repeat_by_tensor(
    call: Call,
    x: TensorValue,
    repeats: TensorValue,
    dim: int | None = None,
    *,
    output_size: Size | None = None,
) -> Translated:
    x = flattened(x) if dim is None else at_least_vector(x)
    axis = axis_of(dim or 0, rank_of(x))
    repeats = at_least_vector(cast(repeats, DType.INT64))
    if repeats.type.shape != (dimensions_of(x)[axis],):
        repeats = expand(repeats, [call.size(x, axis)])
    return op.Gather(x, _repeated_positions(repeats, output_size), axis=axis)


@translates("aten.repeat_interleave.Tensor")
def repeat_positions(call: Call, repeats: TensorValue, *, output_size: Size | None = None) -> Translated:
    return _repeated_positions(cast(repeats, DType.INT64), output_size)


def _repeated_positions(repeats: TensorValue, output_size: Size | None) -> TensorValue:
    """Each position as often as `repeats` says."""
    # A mark where each run ends; the number of runs that ended before a place is the position that stands there.
    ends = op.CumSum(repeats, np.array(0))
    total = int64s([output_size]) if output_size is not None else op.ReduceSum(repeats, [0], keepdims=1)
    marks = op.Expand(np.array(0, np.int64), op.Add(total, np.array([1])))
    ones = op.Expand(np.array(1, np.int64), op.Shape(repeats))
    counts = op.CumSum(op.ScatterElements(marks, ends, ones, axis=0, reduction="add"), np.array(0))
    return op.Slice(counts, np.array([0]), total, np.array([0]))
