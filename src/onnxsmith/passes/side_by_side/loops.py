"""`Loop` with all turns at once, where no turn needs what another one made."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.loop_turns import (
    body_of,
    goes_on,
    is_entered,
    loop_states,
    loop_turns,
    runs_at_least_once,
)
from onnxsmith.passes.side_by_side.control import CONTROL
from onnxsmith.passes.side_by_side.lifting import Lifter
from onnxsmith.passes.side_by_side.recurrences import ADDED_UP, lift_numbers
from onnxsmith.passes.side_by_side.values import CannotLift, Known, Lifted, Summed, Written
from onnxsmith.passes.side_by_side.written_once import written_after_the_loop
from onnxsmith.passes.values import fixed_shape, is_read, made_by, rank

#: From here on reductions have axes for inputs, and all rules speak of one version of each operator.
_FIRST_VERSION = 18
#: Loops of more turns stay loops: side by side, each value of the body takes that many elements.
_MOST_TURNS = 1 << 22
#: Operators that make a number of turns of the size of an array, and leave it about as large.
_OF_SIZES = (
    "Add", "Cast", "Div", "Gather", "Identity", "Max", "Min",
    "Reshape", "Slice", "Squeeze", "Sub", "Unsqueeze",
)  # fmt: skip
#: So many of them are followed.
_DEEPEST = 8
#: An array of fewer elements says nothing about how many turns there are that read it.
_FEW_ELEMENTS = 64


def turns_side_by_side(at: Attempt) -> Outcome:
    """`Loop` of independent turns: its nodes on arrays with a dimension of turns."""
    node, body = at.node, body_of(at.node)
    states = None if body is None or node.op_type != "Loop" else loop_states(node, body)
    if body is None or states is None or node.inputs[0] is None or at.version < _FIRST_VERSION:
        return None
    if is_entered(at.edit, node) is not True or not goes_on(at.edit, body):
        return None
    turns = loop_turns(at.edit, node)
    is_as_long = turns is not None or _has_memory(body, states) or _is_a_size(node.inputs[0])
    if not is_as_long or (turns or 0) > _MOST_TURNS:
        return None
    made = at.made
    for lifts_numbers in (False, True):
        try:
            return _at_once(at, body, states, node.inputs[0], lifts_numbers)
        except CannotLift:
            at.made = made  # one may have been put aside for the body of a loop
            at.edit.discard(made)
            made.clear()
    return None


def _has_memory(body: ir.Graph, states: int) -> bool:
    """True if a loop takes memory as its turns grow in number, or reads arrays that do: it may take as much at once."""
    if len(body.outputs) > states + 1 or any(rank(each) != 0 for each in body.inputs[2:]):
        return True
    own = {*body.inputs, *(each for node in body.all_nodes() for each in node.outputs)}
    read = {each for node in body.all_nodes() for each in node.inputs if each is not None and each not in own}
    shapes = [(rank(each), fixed_shape(each)) for each in read]
    return any(ranks != 0 and (sizes is None or prod(sizes) > _FEW_ELEMENTS) for ranks, sizes in shapes)


def _is_a_size(value: ir.Value | None, depth: int = 0) -> bool:
    """True if a number is computed of the size of an array, which is in memory already."""
    if made_by(value, "Shape", "Size") is not None:
        return True
    node = made_by(value, *_OF_SIZES)
    return node is not None and depth < _DEEPEST and any(_is_a_size(each, depth + 1) for each in node.inputs)


def _at_once(at: Attempt, body: ir.Graph, states: int, limit: ir.Value, lifts_numbers: bool) -> Outcome:
    """The nodes for all turns; numbers that turns do more with than add to them are lifted if that is asked for."""
    node = at.node
    zero, one = at.constant(0), at.constant(1)
    scalar = at.op("Reshape", limit, at.constant(np.array([], np.int64), "shape")) if rank(limit) else limit
    number = at.op("Max", scalar, zero)
    turns = at.op("Range", zero, number, one)
    count = at.op("Reshape", number, at.constant([1], "shape"))
    lifter = Lifter(at, count, turns, CONTROL, is_sure=runs_at_least_once(at.edit, node))
    lifter.known[body.inputs[0]] = Lifted(turns, True, 0)
    lifter.known[body.inputs[1]] = Lifted(at.constant(np.array(True), "yes"), False, 0)
    numbers: dict[ir.Value, ir.Value] = {}
    for inside, given in zip(body.inputs[2:], node.inputs[2:], strict=True):
        ranks = rank(inside) if rank(given) is None else rank(given)
        if given is None or ranks is None:
            raise CannotLift("a number of dimensions is not known")
        if ranks or not lifts_numbers:
            lifter.known[inside] = Written(inside, given) if ranks else Summed(inside, given)
        else:
            numbers[inside] = given
    if lifts_numbers:
        lift_numbers(lifter, body, numbers)
    lifter.graph(body)
    results: list[ir.Value | None] = []
    for place, value in enumerate(body.outputs[1 : len(node.outputs) + 1]):
        found = lifter.of(value)
        assert found is not None
        if not is_read(node.outputs[place]):
            results.append(None)
        elif place < states:
            given = node.inputs[2 + place]
            assert given is not None
            results.append(_carried(lifter, found, given, body.inputs[2 + place]))
        elif isinstance(found, Lifted):
            results.append(lifter.each(found))
        else:
            raise CannotLift("what is carried from turn to turn is read")
    return results


def _carried(lifter: Lifter, found: Known, given: ir.Value, held: ir.Value) -> ir.Value:
    """The carried value after the last turn; `held` stands for it in the body."""
    at = lifter.at
    if isinstance(found, Written):
        return _written(lifter, found) if found.held is held else _refuse()
    if isinstance(found, Summed):
        if found.held is not held:
            _refuse()
        if found.addend is None:
            return given
        if given.dtype not in ADDED_UP:
            raise CannotLift("a sum of an element type that runtimes do not add up")
        # One after the other, as the turns would have added them.
        sums = at.op("CumSum", _after(lifter, given, found.addend), at.constant(0))
        return at.op("Gather", sums, at.constant(-1), axis=0)
    if found.rank:
        raise CannotLift("an array that each turn makes anew")
    return at.op("Gather", _after(lifter, given, found), at.constant(-1), axis=0)


def _refuse() -> ir.Value:
    raise CannotLift("what is carried changes its place")


def _after(lifter: Lifter, given: ir.Value, found: Lifted) -> ir.Value:
    """A number, and those of all turns behind it."""
    first = lifter.at.op("Unsqueeze", given, lifter.at.constant([0], "axes"))
    return lifter.at.op("Concat", first, lifter.each(found), axis=0)


def _written(lifter: Lifter, found: Written) -> ir.Value:
    at = lifter.at
    if found.update is None or found.places is None:
        return found.base
    places, update = lifter.each(found.places), found.update.value
    if found.mask is not None:
        places = at.op("Compress", places, found.mask, axis=0)
        update = at.op("Compress", update, found.mask, axis=0)
    index = at.op("Unsqueeze", places, at.constant([-1], "axes"))
    return at.op("ScatterND", found.base, index, update)


SIDE_BY_SIDE = {"Loop": [turns_side_by_side, written_after_the_loop]}
