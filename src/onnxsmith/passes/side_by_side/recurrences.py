"""Numbers that a loop carries, for all turns at once, where a turn makes them of themselves in a way that is known.

A number that turns only add to is a `CumSum`, and one that the turn before has set is shifted by a turn. A number that
is a factor times itself plus something is a sum of powers. A block of turns is a product of matrices, and only
the last number of each block waits for the block before. That is the same up to rounding as long as nothing is
infinite on the way: the model asks, and goes turn by turn where it may be. For all others see `settling`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.copying import copier
from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.loop_turns import loop_turns
from onnxsmith.passes.side_by_side.bodies import body_graph, body_input
from onnxsmith.passes.side_by_side.branches import on_both_sides
from onnxsmith.passes.side_by_side.extremes import kept_number, running_extreme
from onnxsmith.passes.side_by_side.lifting import Lifter
from onnxsmith.passes.side_by_side.linear_form import Dependence, chosen_from, linear_form, rest, waiting_for
from onnxsmith.passes.side_by_side.settling import settled
from onnxsmith.passes.side_by_side.values import NOTHING, CannotLift, Lifted
from onnxsmith.passes.values import made_by, rank

#: Turns in a block: so many products each turn costs, and so many turns wait together.
_BLOCK = 64
#: The last place of an axis, as `Slice` takes it.
_END = np.iinfo(np.int64).max
#: The element types whose sums are the same one after the other and by `CumSum`.
ADDED_UP = frozenset([ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.INT32, ir.DataType.INT64])
#: How near a factor may be to one: errors of rounding add up over as many turns as it takes to forget one.
_NEAREST = {ir.DataType.FLOAT: 2.0**-6, ir.DataType.DOUBLE: 2.0**-20}
#: So large may the sum of the sizes of all addends be.
_LARGEST = {ir.DataType.FLOAT: 2.0**50, ir.DataType.DOUBLE: 2.0**300}
#: Powers of a smaller factor vanish inside a block, where numbers that are multiplied one by one would not.
_SMALLEST = 2.0**-7
#: Where factors are added up, more than this may have cancelled, and what rounding leaves of them counts.
_MOST_WEIGHT = 4.0


def lift_numbers(lifter: Lifter, body: ir.Graph, states: Mapping[ir.Value, ir.Value]) -> None:
    """Let the numbers that a body carries be known in all turns; raises CannotLift.

    `states` are the inputs of the body that stand for them, and what the loop is given.
    """
    updates = dict(zip(body.inputs[2:], body.outputs[1:], strict=False))
    unknown = [held for held in states if updates[held] is not held]
    for held in states.keys() - unknown:
        lifter.known[held] = Lifted(states[held], False, 0)
    if not unknown:
        raise CannotLift("no number is carried")
    while unknown:
        lifter.graph(body, waiting_for(body, unknown))
        found = [
            held for held in unknown if _is_lifted(lifter, body, held, updates[held], states[held], unknown)
        ]
        if not found:
            after = settled(lifter, body, unknown, updates, states)
            for held, numbers in after.items():
                _know(lifter, held, updates[held], states[held], numbers)
            found = list(after)
        unknown = [held for held in unknown if held not in found]


def _is_lifted(
    lifter: Lifter,
    body: ir.Graph,
    held: ir.Value,
    update: ir.Value,
    given: ir.Value,
    unknown: Collection[ir.Value],
) -> bool:
    """Let one number be known in all turns; False where others have to be known first, or it is no sum of powers."""
    others = waiting_for(body, [each for each in unknown if each is not held])
    of = Dependence(held, waiting_for(body, [held]), others)
    if update not in of.own:
        if update in others:
            return False
        after = lifter.each(lifter.number(update))
    else:
        for rule in (_recurrence, running_extreme, kept_number):
            found = rule(lifter, update, given, of)
            if found is not None:
                break
        else:
            return False
        after = found
    _know(lifter, held, update, given, after)
    return True


def _know(lifter: Lifter, held: ir.Value, update: ir.Value, given: ir.Value, after: ir.Value) -> None:
    """Let a number be known in all turns, where it is known what it is after each."""
    at = lifter.at
    before = at.op("Concat", _first(at, given), after, axis=0)
    ends = at.constant([0], "starts"), at.constant([-1], "ends"), at.constant([0], "axes")
    lifter.known[held] = Lifted(at.op("Slice", before, *ends), True, 0)
    while (copy := made_by(update, "Identity")) is not None and copy.inputs[0] is not None:
        lifter.known[update] = Lifted(after, True, 0)
        update = copy.inputs[0]
    lifter.known[update] = Lifted(after, True, 0)


def _first(at: Attempt, given: ir.Value) -> ir.Value:
    """A number as a vector."""
    return at.op("Unsqueeze", given, at.constant([0], "axes"))


def _recurrence(lifter: Lifter, update: ir.Value, given: ir.Value, of: Dependence) -> ir.Value | None:
    """The number after each turn; None where it is not known how a turn makes it."""
    at, kind = lifter.at, given.dtype
    form = linear_form(at.edit, update, of)
    if form is None:
        return None
    zero = at.like(NOTHING, given)
    # One addend: what is added to cancel again is meant to be rounded.
    if form.addends != 1 or kind is None or zero is None or kind not in ADDED_UP or rank(update):
        return None
    is_sum = form.factor == 1 and form.weight == 1 and not form.is_scaled
    turns = loop_turns(at.edit, at.node)
    is_forgotten = not form.is_chosen and _is_forgotten(form.factor, kind) and form.weight <= _MOST_WEIGHT
    if not is_sum and (not is_forgotten or (turns is not None and turns < _BLOCK)):
        return None
    _lift_branches(lifter, update, of)

    def make(op_type: str, inputs: Sequence[Lifted]) -> Lifted:
        made = at.op(op_type, *[each.value for each in inputs])
        return Lifted(made, any(each.is_each for each in inputs), 0)

    found = rest(update, of, lifter.number, make, Lifted(zero, False, 0))
    assert found is not None
    addend = lifter.each(found)
    first = _first(at, given)
    if is_sum:
        sums = at.op("CumSum", at.op("Concat", first, addend, axis=0), at.constant(0))
        return at.op("Slice", sums, *[at.constant([each]) for each in (1, _END, 0)])
    is_harmless = _guard(lifter, at.op("Concat", first, addend, axis=0), kind)
    in_blocks = body_graph(at, "blocks", (), lambda: [_in_blocks(lifter, form.factor, addend, given)])
    one_by_one = body_graph(at, "turns", (), lambda: [_one_by_one(lifter, update, given, addend, of)])
    return at.op("If", is_harmless, then_branch=in_blocks, else_branch=one_by_one)


def _lift_branches(lifter: Lifter, value: ir.Value, of: Dependence) -> None:
    """Lift what the branches compute that a value of linear form is chosen from, and that does not wait."""
    node = value.producer()
    if value is of.held or value not in of.own or node is None:
        return
    if chosen_from(node, value) is None or node.op_type != "If":
        for each in node.inputs:
            if each is not None:
                _lift_branches(lifter, each, of)
        return
    on_both_sides(lifter, node, value, of, lambda side: _lift_branches(lifter, side, of))


def _is_forgotten(factor: float, kind: ir.DataType) -> bool:
    """True if turns that are long past do not count: where they count more and more, sums of powers cancel."""
    return kind in _NEAREST and _SMALLEST <= abs(factor) <= 1 - _NEAREST[kind]


def _guard(lifter: Lifter, numbers: ir.Value, kind: ir.DataType) -> ir.Value:
    """True if there are turns enough, and all that is added is far from infinite: no NaN is."""
    at = lifter.at
    total = at.op("ReduceSum", at.op("Abs", numbers), keepdims=0)
    largest = at.constant(np.array(_LARGEST[kind], kind.numpy()))
    count = at.op("Squeeze", lifter.count, at.constant([0], "axes"))
    is_harmless = at.op("LessOrEqual", total, largest)
    return at.op("And", is_harmless, at.op("GreaterOrEqual", count, at.constant(_BLOCK)))


def _in_blocks(lifter: Lifter, factor: float, addend: ir.Value, given: ir.Value) -> ir.Value:
    """Sums of powers, computed in float64."""
    at, kind = lifter.at, given.dtype
    assert kind is not None
    wide = int(ir.DataType.DOUBLE)
    is_wide = kind == ir.DataType.DOUBLE
    start = given if is_wide else at.op("Cast", given, to=wide)
    addend = addend if is_wide else at.op("Cast", addend, to=wide)
    missing = at.op("Mod", at.op("Neg", lifter.count), at.constant([_BLOCK]))
    full = at.op("Pad", addend, at.op("Concat", at.constant([0]), missing, axis=0))
    rows = at.op("Reshape", full, at.constant([-1, _BLOCK], "shape"))
    steps = np.arange(_BLOCK)
    distances = steps - steps[:, None]
    powers = np.where(distances >= 0, factor ** np.abs(distances).astype(np.float64), 0.0)
    inside = at.op("MatMul", rows, at.constant(powers, "powers"))
    lasts = at.op("Gather", inside, at.constant(_BLOCK - 1), axis=1)
    state, last = body_input(at, "state", ir.DataType.DOUBLE), body_input(at, "last", ir.DataType.DOUBLE)

    def block() -> list[ir.Value]:
        grown = at.op("Mul", at.constant(np.array(factor**_BLOCK), "power"), state)
        return [at.op("Add", grown, last), at.op("Identity", state)]

    body = body_graph(at, "block", (state, last), block)
    _, starts = at.ops("Scan", start, lasts, outputs=2, num_scan_inputs=1, body=body)
    before = at.op("Unsqueeze", starts, at.constant([1], "axes"))
    sums = at.op("Add", inside, at.op("Mul", before, at.constant(factor ** (steps + 1.0), "powers")))
    flat = at.op("Reshape", sums, at.constant([-1], "shape"))
    result = at.op("Slice", flat, at.constant([0]), lifter.count, at.constant([0]))
    return result if is_wide else at.op("Cast", result, to=int(kind))


def _one_by_one(
    lifter: Lifter, update: ir.Value, given: ir.Value, addend: ir.Value, of: Dependence
) -> ir.Value:
    """The same turn by turn, in the steps of the body. There is one turn more: runtimes refuse a `Scan` of none."""
    at, kind = lifter.at, given.dtype
    assert kind is not None
    state = body_input(at, "state", kind)
    copies: dict[ir.Value, ir.Value | None] = {of.held: state}
    lines: list[ir.Value] = []
    inputs = [state]
    copy = copier(at)

    def gone_through(value: ir.Value) -> ir.Value:
        lines.append(at.op("Pad", value, at.constant([0, 1])))
        inputs.append(body_input(at, "each", kind))
        return inputs[-1]

    for value in _apart(update, of):
        found = lifter.plain(value)
        copies[value] = gone_through(found.value) if found.is_each else found.value
    if not lines:
        gone_through(addend)

    def copied(value: ir.Value) -> ir.Value:
        if value not in copies:
            node = value.producer()
            assert node is not None
            for each in node.inputs:
                if each is not None:
                    copied(each)
            at.made.append(copy.place(node, copies))
        return cast(ir.Value, copies[value])

    body = body_graph(at, "turn", inputs, lambda: [copied(update), at.op("Identity", copied(update))])
    _, numbers = at.ops("Scan", given, *lines, outputs=2, num_scan_inputs=len(lines), body=body)
    return at.op("Slice", numbers, at.constant([0]), lifter.count, at.constant([0]))


def _apart(value: ir.Value, of: Dependence) -> dict[ir.Value, None]:
    """The values that a value of linear form is made of and that do not wait for the number."""
    if value is of.held:
        return {}
    if value not in of.own:
        return {value: None}
    node = value.producer()
    assert node is not None
    found: dict[ir.Value, None] = {}
    for each in node.inputs:
        if each is not None:
            found |= _apart(each, of)
    return found
