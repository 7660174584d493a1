"""`Loop` with all turns at once, where no turn needs what another one made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from onnxsmith.passes.side_by_side.lifting import Control, Lifter
from onnxsmith.passes.side_by_side.recurrences import ADDED_UP, lift_numbers
from onnxsmith.passes.side_by_side.values import NOTHING, CannotLift, Known, Lifted, Summed, Written
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


# -- control ---------------------------------------------------------------------------------------------------
# Control flow inside a loop whose turns happen at once: an `If` chooses, a `Loop` goes on while one turn does.


def lifted_if(lifter: Lifter, node: ir.Node) -> Sequence[Known]:
    """Both sides, and of each turn the one that it takes."""
    condition = lifter.plain(node.inputs[0])
    if condition.rank:
        raise CannotLift("a condition that is an array")
    taken = lifter.each(condition)
    before = lifter.mask
    sides: list[list[Known]] = []
    for name, mask in (("then_branch", taken), ("else_branch", lifter.at.op("Not", taken))):
        graph = node.attributes[name].as_graph()
        lifter.mask = lifter.both(before, mask)
        lifter.graph(graph)
        sides.append([found for each in graph.outputs if (found := lifter.of(each)) is not None])
    lifter.mask = before
    return [_merged(lifter, taken, one, other) for one, other in zip(*sides, strict=True)]


def _merged(lifter: Lifter, taken: ir.Value, one: Known, other: Known) -> Known:
    if isinstance(one, Lifted) and isinstance(other, Lifted):
        return lifter.chosen(taken, one, other)
    if isinstance(one, Written) and isinstance(other, Written) and one.held is other.held:
        return _merged_writes(lifter, taken, one, other)
    if isinstance(one, Summed) and isinstance(other, Summed) and one.held is other.held:
        if one == other:
            return one
        nothing = lifter.at.like(NOTHING, one.base)
        if nothing is None:
            raise CannotLift("a sum of what has no zero")
        zero = Lifted(nothing, False, 0)
        return Summed(one.held, one.base, lifter.chosen(taken, one.addend or zero, other.addend or zero))
    raise CannotLift("what is carried from turn to turn is read")


def _merged_writes(lifter: Lifter, taken: ir.Value, one: Written, other: Written) -> Written:
    if one.update is None or other.update is None:
        found, rest = (one, other) if other.update is None else (other, one)
        if found.place is None or found.places is None:
            return rest
        # The side that wrote has said itself in which turns.
        return found if rest.place is None else replace(found, **_place_of(rest, found))
    assert one.place is not None
    assert one.places is not None
    other = other.at(one.place, one.places)
    assert other.update is not None
    update = lifter.chosen(taken, one.update, other.update)
    mask = None
    if one.mask is not None and other.mask is not None:
        mask = one.mask if one.mask is other.mask else lifter.at.op("Or", one.mask, other.mask)
    return replace(one, update=update, mask=mask)


def _place_of(rest: Written, found: Written) -> dict[str, ir.Value | Lifted | None]:
    assert found.place is not None
    assert found.places is not None
    same = rest.at(found.place, found.places)
    return {"place": same.place, "places": same.places}


def lifted_loop(lifter: Lifter, node: ir.Node) -> Sequence[Known]:
    """A loop that goes on while one of the turns goes on; those that are done keep what they have."""
    at, body = lifter.at, body_of(node)
    count = None if body is None else loop_states(node, body)
    if body is None or count is None or len(body.outputs) != count + 1:
        raise CannotLift("a loop that puts something together")
    states = [lifter.plain(each) for each in node.inputs[2:]]
    limit = None if node.inputs[0] is None else lifter.plain(node.inputs[0])
    first = None if node.inputs[1] is None else lifter.plain(node.inputs[1])
    if any(each is not None and each.rank for each in (limit, first)):
        raise CannotLift("a loop with a limit that is an array")
    alive = (
        lifter.each(Lifted(at.constant(np.array(True), "yes"), False, 0))
        if first is None
        else lifter.each(first)
    )
    alive = lifter.both(lifter.mask, alive)
    if limit is not None:
        alive = at.op("And", alive, at.op("Less", at.constant(0), limit.value))
    given = [lifter.each(each) for each in states]
    graph = _masked_body(lifter, body, limit)
    results = at.ops("Loop", None, _any(lifter, alive), alive, *given, outputs=count + 1, body=graph)
    return [Lifted(value, True, each.rank) for value, each in zip(results[1:], states, strict=True)]


def _any(lifter: Lifter, mask: ir.Value) -> ir.Value:
    at = lifter.at
    total = at.op("ReduceSum", at.op("Cast", mask, to=int(ir.DataType.INT64)), keepdims=0)
    return at.op("Greater", total, at.constant(0))


def _masked_body(lifter: Lifter, body: ir.Graph, limit: Lifted | None) -> ir.Graph:
    at = lifter.at
    outer, made = lifter.mask, at.made
    at.made = []
    number = _input(lifter, "number", ir.DataType.INT64, ())
    going = _input(lifter, "going", ir.DataType.BOOL, ())
    alive = _input(lifter, "alive", ir.DataType.BOOL, (None,))
    inputs = [number, going, alive]
    lifter.known[body.inputs[0]] = Lifted(number, False, 0)
    lifter.known[body.inputs[1]] = Lifted(alive, True, 0)
    for each in body.inputs[2:]:
        ranks = rank(each)
        if ranks is None or each.dtype is None:
            raise CannotLift("a number of dimensions is not known")
        state = _input(lifter, each.name or "state", each.dtype, (None,) * (ranks + 1))
        lifter.known[each] = Lifted(state, True, ranks)
        inputs.append(state)
    lifter.mask = alive
    lifter.graph(body)
    goes_on = lifter.plain(body.outputs[0])
    states: list[ir.Value] = []
    for value, each in zip(inputs[3:], body.outputs[1:], strict=True):
        found = lifter.plain(each)
        before = Lifted(value, True, found.rank)
        kept = lifter.chosen(alive, found, before).value
        states.append(at.op("Identity", kept) if kept in inputs else kept)
    still = at.op("And", alive, goes_on.value)
    if limit is not None:
        following = at.op("Add", number, at.constant(1))
        still = at.op("And", still, at.op("Less", following, limit.value))
    outputs = [_any(lifter, still), still, *states]
    nodes, at.made, lifter.mask = at.made, made, outer
    return ir.Graph(inputs, outputs, nodes=nodes, name=body.name)


def _input(lifter: Lifter, name: str, dtype: ir.DataType, shape: tuple[None, ...]) -> ir.Value:
    fresh = lifter.at.edit.fresh_name(name)
    return ir.Value(name=fresh, type=ir.TensorType(dtype), shape=ir.Shape(shape))


CONTROL: dict[str, Control] = {"If": lifted_if, "Loop": lifted_loop}
