"""numpy's indexing on tensors: `x[1:, ..., None]`, `x[[0, 2], i]`, `x[mask]`.

Reads the subscript, takes the basic part and then the advanced one, and puts the dimensions where numpy puts them.
How each part is taken stands in `index_slices` and `index_arrays`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import is_array, operators_for, rank_of, shape_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics import dimensions, index_unranked
from onnxsmith.core.semantics.conversions import assignment_text
from onnxsmith.core.semantics.index_arrays import (
    AxisIndex,
    Gathered,
    check_indices,
    check_mask,
    mask_indices,
    take,
    take_by_mask,
)
from onnxsmith.core.semantics.index_items import (
    FULL,
    Index,
    Indices,
    Item,
    Mask,
    NewAxis,
    Position,
    Range,
    Rest,
    consumed,
    parse,
)
from onnxsmith.core.semantics.index_slices import Bounds, bounds_of, check_position, emit_basic
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Array, Size, TensorOrArray, TensorT, TensorValue, Value
from onnxsmith.errors import TensorAssignmentError, TensorIndexError, UnknownRankError
from onnxsmith.types.value_types import Shape, scalar_help

#: What takes part in advanced indexing, when there is an array or mask in the subscript.
_ADVANCED = (Position, Indices, Mask)


def get(x: TensorValue, index: Index) -> TensorValue:
    """`x[index]`; TensorIndexError where it cannot work, UnknownRankError where more must be known of x."""
    return get_items(x, parse(index))


def get_items(x: TensorT, items: Sequence[Item]) -> TensorT | TensorValue:
    """The elements that a parsed subscript names."""
    op = operators_for(x, *tensors_in(items))
    rank = rank_of(x)
    if rank is None:
        return index_unranked.get(op, x, items)
    help_text = scalar_help() if rank == 0 and _is_input(x) else None
    whole, items = _truths_with_axes(op, x, _plain_truths_as_axes(expand(items, rank, help_text)))
    plan = _sort(op, whole, items)
    if not plan.arrays and not plan.masks:
        return _insert_axes(op, emit_basic(op, whole, plan.bounds, plan.positions), items, None)
    gathered = _take_advanced(op, whole, plan)
    return _arrange(op, gathered, items)


def tensors_in(items: Sequence[Item]) -> list[Size | Array | None]:
    """The tensors among the parts of a subscript."""
    found: list[Size | Array | None] = []
    for item in items:
        if isinstance(item, Position):
            found.append(item.number)
        elif isinstance(item, Range):
            found += [item.start, item.stop, item.step]
        elif isinstance(item, Indices | Mask):
            found.append(item.value)
    return found


# -- what each part refers to --------------------------------------------------------------------------


def _is_input(x: TensorOrArray) -> bool:
    """True for an input of the graph that is being made, whose type is that of an annotation."""
    active = ACTIVE.get()
    recording = None if active is None else active.recording
    return recording is not None and isinstance(x, Value) and recording.is_given(x)


def expand(items: Sequence[Item], rank: int, help_text: str | None = None) -> list[Item]:
    """The items with one for every dimension. A `...` that stands for none remains: it still separates arrays."""
    used = sum(map(consumed, items))
    if used > rank:
        has = (
            "a scalar has no dimensions"
            if rank == 0
            else f"the tensor has {rank} dimension{'s' * (rank > 1)}"
        )
        raise TensorIndexError(
            f"too many indices: {has}, and {used} {'is' if used == 1 else 'are'} indexed",
            help=help_text,
        )
    missing: list[Item] = [FULL] * (rank - used)
    for position, item in enumerate(items):
        if isinstance(item, Rest):
            return [*items[:position], *(missing or [item]), *items[position + 1 :]]
    return [*items, *missing]


def _is_truth(item: Item) -> bool:
    """True if an item is a single truth value, which takes no dimension and makes one of size 1 or 0."""
    return isinstance(item, Mask) and not item.shape


def _plain_truths_as_axes(items: list[Item]) -> list[Item]:
    """`x[True]` with no other index is `x[None]`."""
    advanced = [each for each in items if isinstance(each, _ADVANCED)]
    if len(advanced) != 1 or not isinstance(first := advanced[0], Mask) or first.shape:
        return items
    is_true = first.content is not None and bool(first.content)
    return [NewAxis() if each is first else each for each in items] if is_true else items


def _truths_with_axes(
    op: StandardOperators, x: TensorT, items: list[Item]
) -> tuple[TensorT | TensorValue, list[Item]]:
    """A single truth value beside others picks from a dimension of size 1, which is added here."""
    if not any(map(_is_truth, items)):
        return x, items
    axis = 0
    added: list[int] = []
    result: list[Item] = []
    for item in items:
        if _is_truth(item):
            added.append(axis)
            result += mask_indices(op, cast(Mask, item))
            axis += 1
        else:
            result.append(item)
            axis += consumed(item)
    return portable.unsqueeze(op, x, added), result


@dataclass(slots=True)
class _Plan:
    """The items of a subscript by what is done with them, under the axes they refer to."""

    bounds: dict[int, list[Bounds]] = field(default_factory=dict[int, list[Bounds]])
    positions: dict[int, Size] = field(default_factory=dict[int, Size])
    arrays: list[AxisIndex] = field(default_factory=list[AxisIndex])
    masks: list[tuple[int, Mask]] = field(default_factory=list[tuple[int, Mask]])

    def shifted(self, axis: int) -> int:
        """An axis after the single places' dimensions are gone."""
        return axis - sum(each < axis for each in self.positions)


def _sort(op: StandardOperators, x: TensorOrArray, items: Sequence[Item]) -> _Plan:
    shape = cast("Shape", shape_of(x))
    plan = _Plan()
    axis = 0
    for item in items:
        if isinstance(item, Range) and item is not FULL:
            found = bounds_of(op, item, shape[axis], lambda axis=axis: _dimension(x, axis))
            if found:
                plan.bounds[axis] = found
        elif isinstance(item, Position):
            plan.positions[axis] = check_position(item.number, axis, shape[axis])
        elif isinstance(item, Indices):
            plan.arrays.append(AxisIndex(axis, item.value))
        elif isinstance(item, Mask):
            check_mask(item, axis, shape)
            plan.masks.append((axis, item))
        axis += consumed(item)
    return plan


def _dimension(x: TensorOrArray, axis: int) -> Size:
    return int(x.shape[axis]) if is_array(x) else dimensions.dimension(x, axis)


# -- the advanced part ---------------------------------------------------------------------------------


def _take_advanced(op: StandardOperators, x: TensorOrArray, plan: _Plan) -> Gathered:
    if len(plan.masks) == 1 and not plan.arrays and plan.masks[0][1].content is None:
        axis, mask = plan.masks[0]
        taken = emit_basic(op, x, plan.bounds, plan.positions)
        return take_by_mask(op, taken, mask, plan.shifted(axis))
    parts = list(plan.arrays)
    for axis, mask in plan.masks:
        parts += [AxisIndex(axis + offset, each.value) for offset, each in enumerate(mask_indices(op, mask))]
    parts.sort(key=lambda each: each.axis)
    check_indices(parts, cast("Shape", shape_of(x)))
    if (whole := _with_leading_places(parts, plan)) is not None:
        parts, plan.positions = whole, {}
    taken = emit_basic(op, x, plan.bounds, plan.positions)
    return take(op, taken, [AxisIndex(plan.shifted(axis), value) for axis, value in parts])


def _with_leading_places(parts: list[AxisIndex], plan: _Plan) -> list[AxisIndex] | None:
    """Arrays and single places together, when all are constants for the first axes: then one `GatherND` does it."""
    places = plan.positions.items()
    if not places or not all(isinstance(number, int) for _, number in places):
        return None
    if not all(is_array(each.value) for each in parts):
        return None
    together = parts + [AxisIndex(axis, np.array(number, np.int64)) for axis, number in places]
    together.sort(key=lambda each: each.axis)
    return together if [each.axis for each in together] == list(range(len(together))) else None


def _arrange(op: StandardOperators, gathered: Gathered, items: Sequence[Item]) -> TensorValue:
    """The arrays' dimensions where numpy puts them: in place when the indices stand side by side, else first."""
    places = [position for position, each in enumerate(items) if isinstance(each, _ADVANCED)]
    is_together = all(isinstance(each, _ADVANCED) for each in items[places[0] : places[-1] + 1])
    wanted = sum(isinstance(each, Range) for each in items[: places[0]]) if is_together else 0
    result, start, count = gathered.tensor, gathered.start, gathered.dimensions
    if start != wanted:
        ranges = sum(isinstance(each, Range) for each in items)
        if count is None:
            raise _unknown_index_rank()
        now = [*range(start), *(-1 - each for each in range(count)), *range(start, ranges)]
        then = [*range(wanted), *(-1 - each for each in range(count)), *range(wanted, ranges)]
        if now != then:
            result = op.Transpose(result, perm=tuple(now.index(each) for each in then))
    return _insert_axes(op, result, items, (0 if not is_together else None, count))


def _insert_axes(
    op: StandardOperators, x: TensorT, items: Sequence[Item], arrays: tuple[int | None, int | None] | None
) -> TensorT | TensorValue:
    """New dimensions where None stands; `arrays` says whether the arrays' dimensions are first, and how many."""
    if not any(isinstance(each, NewAxis) for each in items):
        return x
    position: int | None = 0
    is_counted = arrays is None
    if arrays is not None and arrays[0] is not None:
        position, is_counted = arrays[1], True
    axes: list[int] = []
    for item in items:
        if isinstance(item, NewAxis):
            if position is None:
                raise _unknown_index_rank()
            axes.append(position)
        if isinstance(item, NewAxis | Range):
            position = None if position is None else position + 1
        elif not is_counted and arrays is not None and isinstance(item, _ADVANCED):
            count = arrays[1]
            position = None if position is None or count is None else position + count
            is_counted = True
    return portable.unsqueeze(op, x, axes)


def _unknown_index_rank() -> UnknownRankError:
    return UnknownRankError(
        "where the dimensions of the result go depends on the rank of an index tensor, which is not known",
        help='annotate its shape, as in INT64["K"]',
    )


# -- assignment ----------------------------------------------------------------------------------------


def refuse_assignment() -> NoReturn:
    """`x[i] = v`: says how to write it, in the user's own words where the source can be read."""
    text = assignment_text()
    if text is None:
        instead = "x = x.at[i].set(v)"
    else:
        instead = f"{text.tensor} = {text.tensor}.at[{text.place}].{text.method}({text.value})"
    raise TensorAssignmentError("a tensor is never changed in place; an update makes a new one", help=instead)
