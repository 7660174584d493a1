"""Indexing a tensor of unknown rank, as far as it goes: parts are counted from the front, and from the end after `...`.

What would need the number of dimensions is an UnknownRankError.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.core import portable
from onnxsmith.core.operands import needed_rank, rank_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics.index_arrays import AxisIndex, take, take_by_mask
from onnxsmith.core.semantics.index_items import Indices, Item, Mask, NewAxis, Position, Range, Rest
from onnxsmith.core.semantics.index_slices import Bounds, bounds_of, emit_slices, gather
from onnxsmith.core.value import Size, TensorOrArray, TensorT, TensorValue


def get(op: StandardOperators, x: TensorT, items: Sequence[Item]) -> TensorT | TensorValue:
    """The elements that a subscript names, where they do not depend on the rank."""
    split = next((position for position, each in enumerate(items) if isinstance(each, Rest)), len(items))
    front, back = list(items[:split]), list(items[split + 1 :])
    if any(isinstance(each, Mask) and not each.shape for each in items):
        needed_rank(x, "indexing with a single truth value")
    numbered = [*_from_front(front), *_from_back(back)]
    sliced = _take_slices(op, x, numbered)
    taken, numbered = _take_positions(op, sliced, numbered)
    advanced = [each for each in numbered if isinstance(each[1], Indices | Mask)]
    count: int | None = 0
    if advanced:
        taken, count = _take_arrays(op, taken, advanced, items)
    return _insert_axes(op, taken, front, back, count)


def _consumed(item: Item) -> int:
    return len(item.shape) if isinstance(item, Mask) else 0 if isinstance(item, NewAxis) else 1


def _from_front(items: Sequence[Item]) -> list[tuple[int, Item]]:
    axis = 0
    result: list[tuple[int, Item]] = []
    for item in items:
        if not isinstance(item, NewAxis):
            result.append((axis, item))
        axis += _consumed(item)
    return result


def _from_back(items: Sequence[Item]) -> list[tuple[int, Item]]:
    axis = -sum(map(_consumed, items))
    result: list[tuple[int, Item]] = []
    for item in items:
        if not isinstance(item, NewAxis):
            result.append((axis, item))
        axis += _consumed(item)
    return result


def _take_slices(
    op: StandardOperators, x: TensorT, numbered: Sequence[tuple[int, Item]]
) -> TensorT | TensorValue:
    bounds: dict[int, list[Bounds]] = {}
    for axis, item in numbered:
        if isinstance(item, Range):

            def size(axis: int = axis) -> Size:
                return gather(op, op.Shape(x), axis, 0)

            found = bounds_of(op, item, None, size)
            if found:
                bounds[axis] = found
    return emit_slices(op, x, bounds)


def _take_positions(
    op: StandardOperators, x: TensorT, numbered: Sequence[tuple[int, Item]]
) -> tuple[TensorT | TensorValue, list[tuple[int, Item]]]:
    """Each place on its own, in an order in which no axis that is still needed changes its number."""
    taken: TensorT | TensorValue = x
    places = {axis: item.number for axis, item in numbered if isinstance(item, Position)}
    for axis in [
        *sorted((each for each in places if each >= 0), reverse=True),
        *sorted(a for a in places if a < 0),
    ]:
        taken = gather(op, taken, places[axis], axis)
    left: list[tuple[int, Item]] = []
    for axis, item in numbered:
        if axis in places:
            continue
        if axis >= 0:
            left.append((axis - sum(0 <= each < axis for each in places), item))
        else:
            left.append((axis + sum(each > axis for each in places if each < 0), item))
    return taken, left


def _take_arrays(
    op: StandardOperators, x: TensorOrArray, advanced: Sequence[tuple[int, Item]], items: Sequence[Item]
) -> tuple[TensorValue, int | None]:
    """The result and how many dimensions the arrays left in it, where they stood."""
    axis, first = advanced[0]
    has_positions = any(isinstance(each, Position) for each in items)
    if len(advanced) == 1 and not has_positions:
        if isinstance(first, Indices):
            return gather(op, x, first.value, axis), rank_of(first.value)
        if isinstance(first, Mask) and (len(first.shape) == 1 or axis == 0):
            return take_by_mask(op, x, first, axis).tensor, 1
    arrays = [AxisIndex(axis, item.value) for axis, item in advanced if isinstance(item, Indices)]
    is_leading = [each.axis for each in arrays] == list(range(len(advanced)))
    is_alone = not any(isinstance(each, Position | NewAxis) for each in items)
    if is_leading and is_alone:
        taken = take(op, x, arrays)
        return taken.tensor, taken.dimensions
    needed_rank(x, "an index with several arrays")
    raise AssertionError("needed_rank raised")


def _insert_axes(
    op: StandardOperators, x: TensorT, front: Sequence[Item], back: Sequence[Item], count: int | None
) -> TensorT | TensorValue:
    axes: list[int] = []
    for items, is_back in ((front, False), (list(reversed(back)), True)):
        position: int | None = 0
        is_placed = False
        for item in items:
            if isinstance(item, NewAxis):
                if position is None:
                    needed_rank(x, "a new axis beside an index tensor of unknown rank")
                axes.append(-1 - (position or 0) if is_back else position or 0)
            if isinstance(item, NewAxis | Range):
                position = None if position is None else position + 1
            elif isinstance(item, Indices | Mask) and not is_placed:
                position = None if position is None or count is None else position + count
                is_placed = True
    return portable.unsqueeze(op, x, axes)
