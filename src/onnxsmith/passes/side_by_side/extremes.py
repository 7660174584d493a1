"""Numbers that a loop carries, for all turns at once, where a turn keeps the greater or smaller of two, or sets anew.

The greatest so far, a peak, the place where it was; the last number that a condition was true for; how often it has
been true one after the other. All are the same as turn by turn; a zero may have another sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.loop_turns import loop_turns
from onnxsmith.passes.side_by_side.bodies import body_graph
from onnxsmith.passes.side_by_side.branches import on_both_sides, one_of
from onnxsmith.passes.side_by_side.lifting import Lifter
from onnxsmith.passes.side_by_side.linear_form import Dependence, chosen_from
from onnxsmith.passes.side_by_side.prefixes import Combine, last_places, one_by_one, prefixes
from onnxsmith.passes.side_by_side.values import Lifted
from onnxsmith.passes.values import has_references, rank

#: Fewer turns, where their number is known, stay a loop.
_FEWEST = 16
#: What may be carried: element types that all operators take which are put in.
_FLOATS = frozenset([ir.DataType.FLOAT, ir.DataType.DOUBLE])
_WHOLE = frozenset([ir.DataType.INT32, ir.DataType.INT64])
_COMPARISONS = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
#: So deep is looked whether two values are computed alike.
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class _Step:
    """How a turn makes a number of the one before and another one."""

    #: `Max`, `Min`, or the comparison that decides between the two.
    op_type: str
    #: Whether the comparison has the earlier number on its left.
    is_earlier_left: bool = True
    #: Whether the earlier number is kept where the comparison is true.
    keeps_earlier: bool = False

    @property
    def is_greatest(self) -> bool:
        """True if the greater of the two is kept."""
        if self.op_type in ("Max", "Min"):
            return self.op_type == "Max"
        return self.op_type.startswith("Greater") == (self.is_earlier_left == self.keeps_earlier)

    @property
    def skips_nan(self) -> bool:
        """True if a NaN that comes later is never taken."""
        return self.op_type in _COMPARISONS and not self.keeps_earlier

    @property
    def begins_anew(self) -> bool:
        """True if a NaN that comes later is taken, and given up for whatever comes next."""
        return self.op_type in _COMPARISONS and self.keeps_earlier

    def combine(self, at: Attempt) -> Combine:
        """Makes the nodes of a step."""

        def combined(earlier: ir.Value, later: ir.Value) -> ir.Value:
            if self.op_type not in _COMPARISONS:
                return at.op(self.op_type, earlier, later)
            sides = (earlier, later) if self.is_earlier_left else (later, earlier)
            is_true = at.op(self.op_type, *sides)
            return at.op("Where", is_true, *((earlier, later) if self.keeps_earlier else (later, earlier)))

        return combined


def running_extreme(lifter: Lifter, update: ir.Value, given: ir.Value, of: Dependence) -> ir.Value | None:
    """The number after each turn, where each keeps the greater or smaller of it and another; None elsewhere."""
    at, kind = lifter.at, given.dtype
    if kind is None or kind not in _FLOATS | _WHOLE or not _is_worth_it(lifter, update):
        return None
    steps = {step for step, _ in _leaves(update, of)}
    if len(steps) != 1:
        return None
    (step,) = steps
    if step is None:
        return None
    neutral = at.constant(_neutral(kind, step), "neutral")
    combine = step.combine(at)
    others = _others(lifter, update, of, Lifted(neutral, False, 0), step)
    numbers = lifter.each(others)
    if kind in _WHOLE:
        return prefixes(at, given, numbers, lifter.count, neutral, combine)
    is_nan = at.op("IsNaN", numbers)
    if step.skips_nan:
        numbers = at.op("Where", is_nan, neutral, numbers)
    if not step.begins_anew:
        return prefixes(at, given, numbers, lifter.count, neutral, combine)
    whole = at.op("Cast", is_nan, to=int(ir.DataType.INT32))
    nans = at.op("ReduceSum", whole, keepdims=0)
    is_none = at.op("Equal", nans, at.constant(np.array(0, np.int32)))

    def branch(name: str, make: Callable[..., ir.Value]) -> ir.Graph:
        return body_graph(at, name, (), lambda: [make(at, given, numbers, lifter.count, neutral, combine)])

    return at.op(
        "If", is_none, then_branch=branch("blocks", prefixes), else_branch=branch("turns", one_by_one)
    )


def kept_number(lifter: Lifter, update: ir.Value, given: ir.Value, of: Dependence) -> ir.Value | None:
    """The number after each turn, where conditions say whether one keeps it or sets it anew; None elsewhere.

    Whole numbers may also be added to, as sums of them are the same in any order.
    """
    at, kind = lifter.at, given.dtype
    if kind is None or kind not in _FLOATS | _WHOLE | {ir.DataType.BOOL} or not _is_worth_it(lifter, update):
        return None
    if not _is_kept(update, of, may_add=kind in _WHOLE):
        return None
    zero = at.like(0, given)
    assert zero is not None
    kept = _kept(lifter, update, of, Lifted(zero, False, 0))
    set_anew = lifter.each(kept.is_set)
    places = last_places(at, set_anew, lifter.turns, lifter.count)
    numbers, sums = lifter.each(kept.number), None
    if kept.addend is not None:
        added = at.op("Where", set_anew, zero, lifter.each(kept.addend))
        sums = at.op("CumSum", added, at.constant(0))
        numbers = at.op("Sub", numbers, sums)
    first = at.op("Unsqueeze", given, at.constant([0], "axes"))
    found = at.op(
        "Gather", at.op("Concat", first, numbers, axis=0), at.op("Add", places, at.constant(1)), axis=0
    )
    return found if sums is None else at.op("Add", found, sums)


def _is_worth_it(lifter: Lifter, update: ir.Value) -> bool:
    at = lifter.at
    turns = loop_turns(at.edit, at.node)
    return at.edit.settles_loops and not rank(update) and (turns is None or turns >= _FEWEST)


# -- extremes --------------------------------------------------------------------------------------------


def _neutral(kind: ir.DataType, step: _Step) -> np.ndarray:
    """The number that every other one is kept beside."""
    if kind in _FLOATS:
        return np.array(-np.inf if step.is_greatest else np.inf, kind.numpy())
    limits = np.iinfo(kind.numpy())
    return np.array(limits.min if step.is_greatest else limits.max, kind.numpy())


def _leaves(value: ir.Value, of: Dependence) -> Iterator[tuple[_Step | None, ir.Value]]:
    """The steps that a value is made by and the values beside the number; None for a step of another kind."""
    if value is of.held:
        return
    node = value.producer()
    if value not in of.own or node is None or node.domain:
        yield None, value
        return
    if node.op_type == "Identity" and node.inputs[0] is not None:
        yield from _leaves(node.inputs[0], of)
        return
    if node.op_type in ("Max", "Min"):
        yield from _of_extreme(node, of)
        return
    sides = chosen_from(node, value)
    condition = None if sides is None else node.inputs[0]
    if sides is None or condition is None or condition in of.unknown:
        yield None, value
    elif condition not in of.own:
        for each in sides:
            yield from _leaves(each, of)
    else:
        found = _compared(condition, sides, of)
        yield (None, value) if found is None else found


def _of_extreme(node: ir.Node, of: Dependence) -> Iterator[tuple[_Step | None, ir.Value]]:
    for each in node.inputs:
        if each is None or each in of.unknown:
            yield None, node.outputs[0]
        elif each in of.own:
            yield from _leaves(each, of)
        else:
            yield _Step(node.op_type), each


def _compared(
    condition: ir.Value, sides: tuple[ir.Value, ir.Value], of: Dependence
) -> tuple[_Step, ir.Value] | None:
    """The step of a comparison between the number and another one, which chooses between these two."""
    node = condition.producer()
    if node is None or node.domain or node.op_type not in _COMPARISONS:
        return None
    left, right = node.inputs
    if left is None or right is None:
        return None
    is_left = _is_held(left, of)
    other = right if is_left else left
    if is_left == _is_held(right, of) or other in of.own or other in of.unknown:
        return None
    keeps = _is_held(sides[0], of)
    if keeps == _is_held(sides[1], of) or not _are_alike(sides[1 if keeps else 0], other, _DEEPEST):
        return None
    return _Step(node.op_type, is_left, keeps), other


def _is_held(value: ir.Value, of: Dependence) -> bool:
    """True if a value is the number as the turn before left it."""
    node = value.producer()
    if value is of.held or node is None or node.domain or node.op_type != "Identity":
        return value is of.held
    return node.inputs[0] is not None and _is_held(node.inputs[0], of)


def _are_alike(one: ir.Value, other: ir.Value, depth: int) -> bool:
    """True if two values are known to be the same: branches compute again what stands before them."""
    if one is other:
        return True
    first, second = one.producer(), other.producer()
    if first is None or second is None or not depth or one.dtype != other.dtype:
        return False
    if first.op_type == "Identity" and not first.domain and first.inputs[0] is not None:
        return _are_alike(first.inputs[0], other, depth - 1)
    if second.op_type == "Identity" and not second.domain and second.inputs[0] is not None:
        return _are_alike(one, second.inputs[0], depth - 1)
    if (first.domain, first.op_type, len(first.inputs)) != (
        second.domain,
        second.op_type,
        len(second.inputs),
    ):
        return False
    if any(has_graphs(each) or has_references(each) or is_random(each) for each in (first, second)):
        return False
    if one.index() != other.index() or dict(first.attributes) != dict(second.attributes):
        return False
    return all(
        a is b or (a is not None and b is not None and _are_alike(a, b, depth - 1))
        for a, b in zip(first.inputs, second.inputs, strict=True)
    )


def _others(lifter: Lifter, value: ir.Value, of: Dependence, neutral: Lifted, step: _Step) -> Lifted:
    """The number that a turn has beside the carried one; a neutral one where it keeps that."""
    if value is of.held:
        return neutral
    node = value.producer()
    assert node is not None
    if node.op_type == "Identity" and node.inputs[0] is not None:
        return _others(lifter, node.inputs[0], of, neutral, step)
    if node.op_type in ("Max", "Min"):
        found = [
            _others(lifter, each, of, neutral, step) if each in of.own else lifter.number(each)
            for each in node.inputs
            if each is not None
        ]
        joined = lifter.at.op(node.op_type, *[each.value for each in found]) if len(found) > 1 else None
        return found[0] if joined is None else Lifted(joined, any(each.is_each for each in found), 0)
    sides = chosen_from(node, value)
    condition = node.inputs[0]
    assert sides is not None
    assert condition is not None
    if condition not in of.own:
        one, other = on_both_sides(
            lifter, node, value, of, lambda each: _others(lifter, each, of, neutral, step)
        )
        return one_of(lifter, lifter.number(condition), one, other)
    found = _compared(condition, sides, of)
    assert found is not None
    return lifter.number(found[1])


# -- numbers that are kept -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kept:
    """In which turns a number is set anew, what it is set to there, and what is added to it elsewhere."""

    is_set: Lifted
    number: Lifted
    addend: Lifted | None


def _is_kept(value: ir.Value, of: Dependence, *, may_add: bool) -> bool:
    """True if conditions that do not wait say whether the number is kept, added to, or set anew."""
    if value is of.held or (value not in of.own and value not in of.unknown):
        return True
    node = value.producer()
    if value in of.unknown or node is None or node.domain:
        return False
    if node.op_type == "Identity" and node.inputs[0] is not None:
        return _is_kept(node.inputs[0], of, may_add=may_add)
    if node.op_type == "Add" and may_add:
        first, second = node.inputs
        return first is not None and second is not None and _added(first, second, of) is not None
    sides = chosen_from(node, value)
    condition = None if sides is None else node.inputs[0]
    if sides is None or condition is None or condition in of.own or condition in of.unknown:
        return False
    return all(_is_kept(each, of, may_add=may_add) for each in sides)


def _added(first: ir.Value, second: ir.Value, of: Dependence) -> ir.Value | None:
    """The value that is added to the number."""
    for one, other in ((first, second), (second, first)):
        if _is_held(one, of) and other not in of.own and other not in of.unknown:
            return other
    return None


def _kept(lifter: Lifter, value: ir.Value, of: Dependence, zero: Lifted) -> _Kept:
    at = lifter.at
    no = Lifted(at.constant(np.array(False), "no"), False, 0)
    if value is of.held:
        return _Kept(no, zero, None)
    if value not in of.own:
        return _Kept(Lifted(at.constant(np.array(True), "yes"), False, 0), lifter.number(value), None)
    node = value.producer()
    assert node is not None
    if node.op_type == "Identity" and node.inputs[0] is not None:
        return _kept(lifter, node.inputs[0], of, zero)
    if node.op_type == "Add":
        first, second = node.inputs
        assert first is not None
        assert second is not None
        return _Kept(no, zero, lifter.number(_added(first, second, of)))
    condition = lifter.number(node.inputs[0])
    one, other = on_both_sides(lifter, node, value, of, lambda each: _kept(lifter, each, of, zero))
    addends = [one.addend, other.addend]
    addend = None
    if addends != [None, None]:
        addend = one_of(lifter, condition, *[zero if each is None else each for each in addends])
    return _Kept(
        one_of(lifter, condition, one.is_set, other.is_set),
        one_of(lifter, condition, one.number, other.number),
        addend,
    )
