"""Control flow inside a loop whose turns happen at once: an `If` chooses, a `Loop` goes on while one turn does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.loop_turns import body_of, loop_states
from onnxsmith.passes.side_by_side.lifting import Control, Lifter
from onnxsmith.passes.side_by_side.values import NOTHING, CannotLift, Known, Lifted, Summed, Written
from onnxsmith.passes.values import rank


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
