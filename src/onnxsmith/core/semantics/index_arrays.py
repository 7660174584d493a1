"""The advanced part of a subscript: index arrays and masks, as `Gather`, `GatherND` and `Compress`.

Takes a tensor whose slices and single places are dealt with, and arrays for some of its axes. Returns the tensor and
where the broadcast dimensions of the arrays stand in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.demands import demand, is_noted
from onnxsmith.core.operands import (
    are_arrays,
    is_array,
    is_static,
    needed_rank,
    rank_of,
    shape_of,
    static_shape,
)
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics import dimensions
from onnxsmith.core.semantics.index_items import Indices, Mask
from onnxsmith.core.semantics.index_slices import gather
from onnxsmith.core.value import Array, Operand, Size, TensorOrArray, TensorValue
from onnxsmith.errors import TensorIndexError, UnknownRankError
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension, Shape, describe_shape, sizes_differ


class Gathered(NamedTuple):
    """A result, with so many broadcast dimensions from `start` on; None where their number is not known."""

    tensor: TensorValue
    start: int
    dimensions: int | None


class AxisIndex(NamedTuple):
    """Places along one axis."""

    axis: int
    value: TensorOrArray


# -- checks --------------------------------------------------------------------------------------------


def check_mask(mask: Mask, axis: int, shape: Shape) -> None:
    """Refuse a mask that certainly does not have the sizes of the dimensions it covers."""
    for offset, size in enumerate(mask.shape):
        covered = shape[axis + offset]
        if sizes_differ(size, covered):
            raise TensorIndexError(
                f"the mask of shape {describe_shape(mask.shape)} does not fit: dimension {axis + offset} "
                f"of the tensor has size {covered}, the mask's has {size}"
            )


def check_indices(parts: Sequence[AxisIndex], shape: Shape) -> None:
    """Refuse index arrays that certainly do not broadcast, and places that are certainly out of range."""
    shapes = [cast("Shape", shape_of(each.value)) for each in parts if rank_of(each.value) is not None]
    sizes = _broadcast(shapes)
    if sizes is not None and 0 in sizes:
        return  # nothing is taken, from wherever
    for axis, value in parts:
        size = shape[axis]
        if not is_array(value) or not isinstance(size, int):
            continue
        wrong = value[(value < -size) | (value >= size)]
        if wrong.size:
            raise TensorIndexError(
                f"index {wrong[0]} is out of range for dimension {axis}, whose size is {size}"
            )


def _broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The shape that index arrays have together, or an error; None in it where that is not known."""
    rank = max((len(each) for each in shapes), default=0)
    result: list[Dimension] = []
    for position in range(rank):
        column = [each[position - rank] for each in shapes if len(each) >= rank - position]
        sizes = {each for each in column if each != 1}
        numbers = {each for each in sizes if isinstance(each, int)}
        if len(numbers) > 1:
            listed = " and ".join(describe_shape(each) for each in shapes)
            raise TensorIndexError(f"index arrays of shapes {listed} cannot be broadcast together")
        result.append(
            numbers.pop() if numbers else 1 if not sizes else sizes.pop() if len(sizes) == 1 else None
        )
    return tuple(result)


# -- one array -----------------------------------------------------------------------------------------


def take(op: StandardOperators, x: TensorOrArray, parts: Sequence[AxisIndex]) -> Gathered:
    """The elements that one or several index arrays name together."""
    if len(parts) == 1:
        axis, value = parts[0]
        return Gathered(gather(op, x, value, axis), axis, rank_of(value))
    axes = [each.axis for each in parts]
    arrays = [each.value for each in parts]
    first = axes[0]
    is_block = axes == list(range(first, first + len(axes)))
    if first == 0 and is_block:
        return _gather_nd(op, x, stacked(op, arrays))
    shape = cast("Shape", shape_of(x))
    sizes = [shape[axis] for axis in axes]
    if is_block and is_static(sizes) and are_arrays(arrays):
        return _gather_merged(op, x, first, sizes, arrays)
    return _gather_nd(op, _axes_to_front(op, x, axes), stacked(op, arrays))


def _gather_nd(op: StandardOperators, x: TensorOrArray, indices: TensorOrArray) -> Gathered:
    rank = rank_of(indices)
    return Gathered(op.GatherND(x, indices), 0, None if rank is None else rank - 1)


def _gather_merged(
    op: StandardOperators, x: TensorOrArray, first: int, sizes: Sequence[int], arrays: Sequence[Array]
) -> Gathered:
    """Adjacent axes of known sizes as one axis: a view and one `Gather`, where transposing would copy everything."""
    places = np.broadcast_arrays(*arrays)
    wrapped = [np.where(each < 0, each + size, each) for each, size in zip(places, sizes, strict=True)]
    strides = [int(np.prod(sizes[position + 1 :])) for position in range(len(sizes))]
    flat = sum(each * stride for each, stride in zip(wrapped, strides, strict=True))
    merged = merge_axes(op, x, first, first + len(sizes))
    return Gathered(gather(op, merged, np.asarray(flat, np.int64), first), first, places[0].ndim)


def merge_axes(op: StandardOperators, x: Operand, first: int, last: int) -> TensorValue:
    """The axes from `first` up to `last` as one."""
    shape = cast("Shape", shape_of(x))
    merged = symbolic.product(shape[first:last])
    static = static_shape(x)
    if static is not None:
        target = (*static[:first], cast(int, merged), *static[last:])
        return portable.reshape(op, x, portable.integers(target), keeps_zero=0 in target)
    if is_static(shape[last:]) and 0 not in shape[last:] and isinstance(merged, int) and merged != 0:
        # A 0 copies the dimension that stands there, which those before `first` may be.
        entries = [0] * first + [merged, *cast("tuple[int, ...]", shape[last:])]
        return op.Reshape(x, portable.integers(entries))
    parts: list[TensorOrArray] = []
    if first:
        parts.append(portable.shape_part(op, x, 0, first))
    parts.append(portable.integers((merged,)) if isinstance(merged, int) else _product(op, x, first, last))
    if last < len(shape):
        parts.append(portable.shape_part(op, x, last))
    target = parts[0] if len(parts) == 1 else op.Concat(*parts, axis=0)
    return portable.reshape(op, x, target, keeps_zero=True)


def _product(op: StandardOperators, x: Operand, first: int, last: int) -> TensorValue:
    return portable.reduce(op, "Prod", portable.shape_part(op, x, first, last), (0,), True)


def _axes_to_front(op: StandardOperators, x: TensorOrArray, axes: Sequence[int]) -> TensorValue:
    rank = needed_rank(x, "indexing with several arrays")
    return op.Transpose(x, perm=(*axes, *(each for each in range(rank) if each not in axes)))


def stacked(op: StandardOperators, arrays: Sequence[TensorOrArray]) -> TensorOrArray:
    """Index arrays, broadcast together, as `GatherND` and `ScatterND` take them: one coordinate beside the other."""
    if are_arrays(arrays):
        return np.stack(np.broadcast_arrays(*arrays), axis=-1)
    shapes = [shape for each in arrays if (shape := shape_of(each)) is not None]
    common = _broadcast(shapes) if len(shapes) == len(arrays) else None
    if common is not None and is_static(common) and 0 in common:
        _demand_together(op, arrays)
        return np.zeros((*common, len(arrays)), np.int64)  # no places, whatever the tensors hold
    arrays = [portable.as_int64(op, each) for each in arrays]
    arrays = _expanded(op, arrays)
    columns = [
        each[..., np.newaxis] if is_array(each) else portable.unsqueeze(op, each, (-1,)) for each in arrays
    ]
    return columns[0] if len(columns) == 1 else op.Concat(*columns, axis=-1)


def _demand_together(op: StandardOperators, arrays: Sequence[TensorOrArray]) -> None:
    """Index arrays broadcast, also where no operator is asked to do it."""
    if not is_noted():
        return
    error = IndexError("shape mismatch: indexing arrays could not be broadcast together")
    for one, other in itertools.combinations(arrays, 2):
        mine, theirs = cast("Shape", shape_of(one)), cast("Shape", shape_of(other))
        for axis in range(-min(len(mine), len(theirs)), 0):
            if 1 in (mine[axis], theirs[axis]) or symbolic.is_same(mine[axis], theirs[axis]):
                continue
            demand_fit(op, (_size(one, axis), _size(other, axis)), is_mutual=True, error=error)


def _size(x: TensorOrArray, axis: int) -> Size:
    return int(x.shape[axis]) if is_array(x) else dimensions.dimension(x, axis)


def demand_fit(op: StandardOperators, sizes: tuple[Size, Size], error: Exception, *, is_mutual: bool) -> None:
    """The first of two sizes broadcasts to the second; with `is_mutual`, either to the other."""
    size, wanted = (np.array(each, np.int64) if isinstance(each, int) else each for each in sizes)
    fits = op.Or(op.Equal(size, wanted), op.Equal(size, np.int64(1)))
    demand(lambda: op.Or(fits, op.Equal(wanted, np.int64(1))) if is_mutual else fits, error)


def _expanded(op: StandardOperators, arrays: Sequence[TensorOrArray]) -> Sequence[TensorOrArray]:
    shapes = [shape_of(each) for each in arrays]
    if None in shapes:
        raise UnknownRankError(
            "several index tensors are broadcast together, and the rank of one is not known",
            help='annotate its shape, as in INT64["K"]',
        )
    known = cast("list[Shape]", shapes)
    common = _broadcast(known)
    assert common is not None
    if all(_is_same_shape(each, common) for each in known):
        return arrays
    if is_static(common):
        target: TensorOrArray = portable.integers(common)
    else:
        # The sum of zeros in all shapes has the shape of all.
        zeros = [np.zeros_like(each) if is_array(each) else op.Mul(each, 0) for each in arrays]
        total = zeros[0]
        for each in zeros[1:]:
            total = op.Add(total, each)
        target = op.Shape(total)
    return [
        each if _is_same_shape(shape, common) else op.Expand(each, target)
        for each, shape in zip(arrays, known, strict=True)
    ]


def _is_same_shape(left: Shape, right: Shape) -> bool:
    return len(left) == len(right) and all(symbolic.is_same(a, b) for a, b in zip(left, right, strict=True))


# -- masks ---------------------------------------------------------------------------------------------


def take_by_mask(op: StandardOperators, x: TensorOrArray, mask: Mask, axis: int) -> Gathered:
    """The elements where a mask that the model computes is true, when it is the only array in the subscript."""
    covered = len(mask.shape)
    if covered == 1:
        result = op.Compress(x, mask.value, axis=axis)
        return Gathered(result, axis, 1)
    shape = shape_of(x)
    if shape is not None and axis == 0 and covered == len(shape) and _is_same_shape(shape, mask.shape):
        flat = op.Reshape(mask.value, portable.integers((-1,)))
        return Gathered(op.Compress(x, flat), 0, 1)
    places = op.Transpose(op.NonZero(mask.value))
    if axis == 0:
        return Gathered(op.GatherND(x, places), 0, 1)
    axes = list(range(axis, axis + covered))
    return Gathered(op.GatherND(_axes_to_front(op, x, axes), places), 0, 1)


def mask_indices(op: StandardOperators, mask: Mask) -> list[Indices]:
    """A mask as one index array for each dimension that it covers."""
    content = mask.content
    if content is not None:
        if content.ndim == 0:
            return [Indices(np.zeros(int(content), np.int64))]
        return [Indices(each.astype(np.int64)) for each in np.nonzero(content)]
    value = mask.value
    if not mask.shape:
        value = op.Reshape(value, portable.integers((1,)))
    places = op.NonZero(value)
    if len(mask.shape) <= 1:
        return [Indices(portable.squeeze(op, places, (0,)))]
    return [Indices(op.Gather(places, np.array(row, np.int64))) for row in range(len(mask.shape))]
