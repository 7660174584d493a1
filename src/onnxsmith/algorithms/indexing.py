"""Elements by index tensors and masks, with numpy's rules of what is indexed together and where it stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    as_size,
    cast,
    converted,
    dimensions_of,
    expand,
    flat,
    int64s,
    rank_of,
    size_of,
)
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension


def flattened(x: Tensor) -> Tensor:
    """The elements as a vector."""
    return x if rank_of(x) == 1 else flat(x)


def at_least_vector(x: Tensor) -> Tensor:
    """A scalar as a vector of one; anything else as it is."""
    return op.Reshape(x, np.array([1], np.int64)) if rank_of(x) == 0 else x


# -- where elements are ----------------------------------------------------------------------------------


def positions_by_dimension(x: Tensor) -> Tensor:
    """The positions of the elements that are not zero: a row for each dimension."""
    return op.NonZero(at_least_vector(x))


def positions(x: Tensor) -> Tensor:
    """The positions of the elements that are not zero: a row for each of them."""
    if rank_of(x) == 0:
        # A scalar has one position, which takes no numbers to say.
        return op.Slice(op.Transpose(positions_by_dimension(x), perm=[1, 0]), [0], [0], [1])
    return op.Transpose(positions_by_dimension(x), perm=[1, 0])


# -- masks -----------------------------------------------------------------------------------------------


def is_mask(index: Tensor) -> bool:
    """True if an index is a mask: a truth value for each element."""
    return index.dtype in (DType.BOOL, DType.UINT8)


def without_masks(indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Indices in which a mask is the positions of its true elements, one tensor for each of its dimensions."""
    result: list[Tensor | None] = []
    for each in indices:
        if each is None or not is_mask(each):
            result.append(None if each is None else converted(each, DType.INT64))
            continue
        rows = positions_by_dimension(each)
        result += [op.Gather(rows, np.array(k), axis=0) for k in range(rank_of(each))]
    return result


# -- index tensors ---------------------------------------------------------------------------------------


@algorithm(by_size=True)
def indexed(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The value of `x[indices]`, where None stands for a whole dimension."""
    masks = [(k, each) for k, each in enumerate(indices) if each is not None]
    if not masks:
        return x
    if len(masks) == 1 and is_mask(masks[0][1]):
        selected = _selected(x, masks[0][1], masks[0][0])
        if selected is not None:
            return selected
    axes, tensors = given(without_masks(indices))
    if len(axes) == 1:
        return op.Gather(x, tensors[0], axis=axes[0])
    rest = [k for k in range(rank_of(x)) if k not in axes]
    first = x if axes == list(range(len(axes))) else op.Transpose(x, perm=[*axes, *rest])
    result = op.GatherND(first, index_tuples(tensors))
    before = dimensions_before(axes)
    if not before:
        return result
    width = max(rank_of(each) for each in tensors)
    order = [*range(width, width + before), *range(width), *range(width + before, rank_of(result))]
    return op.Transpose(result, perm=order)


def given(indices: Sequence[Tensor | None]) -> tuple[list[int], list[Tensor]]:
    """The dimensions that are indexed, and their index tensors."""
    found = [(k, each) for k, each in enumerate(indices) if each is not None]
    return [k for k, _ in found], [each for _, each in found]


def _selected(x: Tensor, mask: Tensor, axis: int) -> Tensor | None:
    """The elements that a single mask selects, in one step; None where it takes more."""
    mask = converted(mask, DType.BOOL)
    if rank_of(mask) == 1:
        return op.Compress(x, mask, axis=axis)
    return op.Compress(x, flattened(mask)) if rank_of(mask) == rank_of(x) else None


def dimensions_before(axes: Sequence[int]) -> int:
    """How many dimensions of the result stand before those of the index tensors.

    Indexed dimensions that stand together leave their result in their place; others leave it in front.
    """
    is_together = list(axes) == list(range(axes[0], axes[0] + len(axes)))
    return axes[0] if is_together else 0


def index_tuples(tensors: Sequence[Tensor]) -> Tensor:
    """Index tensors, broadcast, as one tensor whose last dimension holds an index for each axis."""
    # GatherND and ScatterND count negative indices from the end, as torch does.
    tensors = broadcast_together(tensors)
    return op.Concat(*[op.Unsqueeze(each, [-1]) for each in tensors], axis=-1)


def broadcast_sizes(tensors: Sequence[Tensor]) -> list[Size]:
    """The shape that tensors broadcast to: ints and numbers of the model."""
    rank = max(rank_of(each) for each in tensors)
    result: list[Size] = [1] * rank
    known: list[Dimension] = [1] * rank
    for tensor in tensors:
        for axis in range(-rank_of(tensor), 0):
            dimension = dimensions_of(tensor)[axis]
            if dimension == 1 or (isinstance(result[axis], int) and result[axis] != 1):
                continue
            size = size_of(tensor, axis)
            is_other = not isinstance(size, int) and known[axis] not in (1, dimension)
            result[axis] = _wider(result[axis], size) if is_other else size
            known[axis] = dimension
    return result


def _wider(one: Size, other: Size) -> Size:
    """Of two sizes that broadcast, the one that is not 1, such as that of a slice beside the whole."""
    first, second = cast(one, DType.INT64), cast(other, DType.INT64)
    return as_size(op.Where(op.Equal(first, np.int64(1)), second, first))


def broadcast_together(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors in the shape that they broadcast to."""
    if len({dimensions_of(each) for each in tensors}) == 1 and None not in dimensions_of(tensors[0]):
        return list(tensors)
    sizes = broadcast_sizes(tensors)
    return [expand(each, sizes) for each in tensors]


def within(x: Tensor, indices: Sequence[Tensor | None], least_of_one: int) -> list[Tensor | None]:
    """Indices moved into the bounds of their dimensions; the least is a multiple of the dimension's size."""
    result: list[Tensor | None] = []
    for axis, each in enumerate(indices):
        if each is None:
            result.append(None)
            continue
        size = size_of(x, axis)
        least, most = cast(least_of_one * size, DType.INT64), cast(size - 1, DType.INT64)
        result.append(op.Min(op.Max(converted(each, DType.INT64), least), most))
    return result


def masked_positions(x: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Indices of which those out of bounds are moved to the nearest element; a mask says that they do not count."""
    return within(x, indices, -1)


# -- repeating -------------------------------------------------------------------------------------------


@algorithm
def repeated_positions(repeats: Tensor, output_size: Size | None = None) -> Tensor:
    """Each position as often as `repeats` says."""
    # A mark where each run ends; the number of runs that ended before a place is the position that stands there.
    ends = op.CumSum(repeats, np.array(0))
    total = int64s([output_size]) if output_size is not None else op.ReduceSum(repeats, [0], keepdims=1)
    marks = op.Expand(np.array(0, np.int64), op.Add(total, np.array([1])))
    ones = op.Expand(np.array(1, np.int64), op.Shape(repeats))
    counts = op.CumSum(op.ScatterElements(marks, ends, ones, axis=0, reduction="add"), np.array(0))
    return op.Slice(counts, np.array([0]), total, np.array([0]))
