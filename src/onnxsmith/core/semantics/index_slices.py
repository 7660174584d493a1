"""The basic part of a subscript: slices and single places, as `Slice`, `Gather` and `GatherND`.

Python's slices and ONNX's agree but for one case: a start before the first element with a negative step, which
Python takes as nothing and ONNX as the first element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import dtype_of, is_array, is_static, needed_rank, rank_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics.index_items import Range
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Array, Size, TensorOrArray, TensorT, TensorValue
from onnxsmith.errors import TensorIndexError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

LAST = int(np.iinfo(np.int64).max)
FIRST = int(np.iinfo(np.int64).min)


class Bounds(NamedTuple):
    """A slice as ONNX takes it: ints, or scalar INT64 tensors."""

    start: Size
    end: Size
    step: Size


_REVERSED_FROM_END = Bounds(LAST, FIRST, -1)


def check_position(number: Size, axis: int, size: Dimension) -> Size:
    """A place along a dimension, counted from the front where its size is known."""
    if _is_as_written():
        return number
    if not isinstance(number, int) or not isinstance(size, int):
        return number
    if not -size <= number < size:
        raise TensorIndexError(f"index {number} is out of range for dimension {axis}, whose size is {size}")
    return number % size


def _is_as_written() -> bool:
    """True if a given model is taken as it is: then what is known of sizes makes nothing simpler."""
    target = ACTIVE.get()
    return target is not None and target.is_exact


def bounds_of(
    op: StandardOperators, part: Range, size: Dimension, size_tensor: Callable[[], Size]
) -> list[Bounds]:
    """A slice as one `Slice` or two after another; none for a slice that takes everything.

    `size` is the dimension as it is known, `size_tensor` makes a tensor or int of it when that is needed.
    """
    start, stop, step = part.start, part.stop, 1 if part.step is None else part.step
    if _is_as_written():
        size = None
    if not isinstance(step, int):
        return [_with_open_step(op, start, stop, step)]
    is_constant = all(each is None or isinstance(each, int) for each in (start, stop))
    if is_constant and isinstance(size, int):
        return _static_bounds(slice(start, stop, step), size)
    if step > 0:
        if is_constant and (start or 0, stop, step) == (0, None, 1):
            return []
        return [Bounds(0 if start is None else start, LAST if stop is None else stop, step)]
    if start is None or (isinstance(start, int) and start >= -1):
        first = LAST if start in (None, -1) else start
        return [Bounds(first, FIRST if stop is None else stop, step)]
    # A start that may lie before the first element: take the part that is walked through, then walk it backwards.
    low = 0 if stop is None else _after(op, stop, size_tensor)
    walked = Bounds(low, _after(op, start, size_tensor), 1)
    return [walked, _REVERSED_FROM_END._replace(step=step)]


def _static_bounds(part: slice, size: int) -> list[Bounds]:
    taken = range(*part.indices(size))
    if len(taken) == size and (part.step is None or part.step > 0 or size <= 1):
        return []
    if not taken:
        return [Bounds(0, 0, 1)]
    if len(taken) == 1:
        return [Bounds(taken[0], taken[0] + 1, 1)]
    end = taken.stop if taken.stop >= 0 else FIRST
    return [Bounds(taken.start, end, taken.step)]


def _after(op: StandardOperators, number: Size, size_tensor: Callable[[], Size]) -> Size:
    """The place after one, which may be counted from the end and may lie outside."""
    if isinstance(number, int):
        return LAST if number == -1 else number + 1
    number = portable.as_int64(op, number)
    from_end = op.Max(op.Add(op.Add(number, size_tensor()), 1), 0)
    return op.Where(op.Less(number, 0), from_end, op.Add(number, 1))


def _with_open_step(
    op: StandardOperators, start: Size | None, stop: Size | None, step: TensorValue
) -> Bounds:
    """The bounds of a slice whose step only the model knows: the sign of the step decides which end is the first."""
    step = portable.as_int64(op, step)
    is_backward = op.Less(step, 0)
    if start is None:
        start = op.Where(is_backward, np.array(LAST), np.array(0))
    if stop is None:
        stop = op.Where(is_backward, np.array(FIRST), np.array(LAST))
    return Bounds(start, stop, step)


def emit_slices(
    op: StandardOperators, x: TensorT, bounds: Mapping[int, list[Bounds]]
) -> TensorT | TensorValue:
    """All slices of a subscript as one `Slice`; a second one where some need two."""
    sliced: TensorT | TensorValue = x
    for turn in range(max((len(each) for each in bounds.values()), default=0)):
        axes = [axis for axis, each in bounds.items() if turn < len(each)]
        parts = [bounds[axis][turn] for axis in axes]
        starts, ends, steps = zip(*parts, strict=True)
        sliced = portable.slice(op, sliced, axes, starts, ends, steps)
    return sliced


def emit_basic(
    op: StandardOperators, x: TensorT, bounds: Mapping[int, list[Bounds]], positions: Mapping[int, Size]
) -> TensorT | TensorValue:
    """Slices and places, with axes counted from the front; the places' dimensions are gone from the result."""
    axes = sorted(positions)
    places = [positions[axis] for axis in axes]
    if len(axes) > 1 and is_static(places):
        if not bounds and axes == list(range(len(axes))) and op.has("GatherND"):
            return op.GatherND(x, portable.integers(places))
        if len(axes) > 2 or bounds:
            single = {axis: [_one_place(place)] for axis, place in zip(axes, places, strict=True)}
            return portable.squeeze(op, emit_slices(op, x, {**bounds, **single}), axes)
    taken: TensorT | TensorValue = x
    for axis in reversed(axes):
        taken = gather(op, taken, positions[axis], axis)
    left = {axis - sum(other < axis for other in axes): each for axis, each in bounds.items()}
    return emit_slices(op, taken, left)


def _one_place(number: int) -> Bounds:
    return Bounds(number, LAST if number == -1 else number + 1, 1)


def gather(op: StandardOperators, x: TensorOrArray, indices: Size | Array, axis: int) -> TensorValue:
    """`Gather` with indices of any integer type."""
    if dtype_of(x) is DType.STRING and axis not in (-1, (rank_of(x) or 0) - 1):
        return _gather_text(op, x, indices, axis)
    if isinstance(indices, int):
        indices = np.array(indices, np.int64)
    elif dtype_of(indices) not in (DType.INT32, DType.INT64):
        indices = portable.as_int64(op, indices)
    return op.Gather(x, indices, axis=axis) if axis else op.Gather(x, indices)


def _gather_text(op: StandardOperators, x: TensorOrArray, indices: Size | Array, axis: int) -> TensorValue:
    """Without `Gather`, which in ONNX Runtime (1.31) copies only the first string of each row it takes."""
    if isinstance(indices, int):
        place = _one_place(indices)
        taken = portable.slice(op, x, (axis,), (place.start,), (place.end,), (place.step,))
        return portable.squeeze(op, taken, (axis,))
    indices = portable.as_int64(op, indices)
    columns = indices[..., np.newaxis] if is_array(indices) else portable.unsqueeze(op, indices, (-1,))
    if axis == 0:
        return op.GatherND(x, columns)
    rank, count = needed_rank(x, "indexing strings"), needed_rank(indices, "indexing strings")
    front = (axis % rank, *(each for each in range(rank) if each != axis % rank))
    taken = op.GatherND(op.Transpose(x, perm=front), columns)
    before = range(count, count + axis % rank)
    after = range(count + axis % rank, count + rank - 1)
    return op.Transpose(taken, perm=(*before, *range(count), *after)) if count else taken
