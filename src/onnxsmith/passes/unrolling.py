"""Loops whose number of turns is known, as the nodes of all their turns, one after the other: on request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.graph_inference import Functions
from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.rewriting.scopes import called_functions, inner_nodes
from onnxsmith.passes.copying import copied_in
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.loop_turns import body_of, loop_states, loop_turns, scan_layout, scan_turns
from onnxsmith.passes.values import is_read, rank
from onnxsmith.passes.worklist import NamedRule, Worklist
from onnxsmith.schema import registry

#: Nodes that unrolling may add to a model.
MOST_NODES = 20_000


class Unrolling:
    """Unrolls loops of up to so many turns, until the model has grown by as much as it may."""

    def __init__(self, most_turns: int) -> None:
        self._most = most_turns
        self._nodes_left = MOST_NODES
        #: Loops of few turns that would have made the model too large.
        self.is_exhausted = False

    def run(self, edit: Editor) -> int:
        """Unroll what can be; returns how many loops that were."""
        edit.pass_name = "unrolling"
        named = NamedRule("unrolled loop", self._rule)
        return Worklist(edit, {("", "Loop"): [named], ("", "Scan"): [named]}).run()

    def _rule(self, at: Attempt) -> Outcome:
        body = body_of(at.node)
        if body is None:
            return None
        is_scan = at.node.op_type == "Scan"
        turns = scan_turns(at.edit, at.node) if is_scan else loop_turns(at.edit, at.node)
        if turns is None or not 1 <= turns <= self._most:
            return None
        inside = list(body.all_nodes())
        if _draws(inside, at.edit.functions):
            return None  # one node with a seed draws other numbers in each turn, several nodes draw the same
        if turns * len(inside) > self._nodes_left:
            self.is_exhausted = True
            return None
        results = unrolled_scan(at, body, turns) if is_scan else unrolled_loop(at, body, turns)
        if results is not None:
            self._nodes_left -= turns * len(inside)
        return results


def _draws(nodes: Sequence[ir.Node], functions: Functions) -> bool:
    """True if one of the nodes, or of the functions that they call, draws random numbers."""
    called = (functions[key].graph.all_nodes() for key in called_functions(nodes, functions))
    return any(is_random(node) for inside in (nodes, *called) for node in inside)


def unrolled_loop(at: Attempt, body: ir.Graph, turns: int) -> Outcome:
    """The turns of a `Loop` one after the other."""
    count = loop_states(at.node, body)
    if count is None:
        return None
    states: list[ir.Value | None] = list(at.node.inputs[2:])
    going = at.constant(_of_rank(np.array(True), body.inputs[1]), "going")
    pieces: list[list[ir.Value | None]] = []
    for turn in range(turns):
        number = at.constant(_of_rank(np.array(turn, np.int64), body.inputs[0]), "turn")
        given = dict(zip(body.inputs, [number, going, *states], strict=True))
        results = _one_turn(at, body, given)
        if results is None:
            return None
        states = list(results[1 : count + 1])
        pieces.append(list(results[count + 1 :]))
    return _outcome(at, states, pieces, [(0, False)] * (len(body.outputs) - count - 1))


def unrolled_scan(at: Attempt, body: ir.Graph, turns: int) -> Outcome:
    """The turns of a `Scan` one after the other."""
    layout = scan_layout(at.edit, at.node, body)
    if layout is None:
        return None
    states: list[ir.Value | None] = list(at.node.inputs[: layout.states])
    sources = at.node.inputs[layout.states :]
    pieces: list[list[ir.Value | None]] = []
    for turn in range(turns):
        parts: list[ir.Value | None] = []
        for source, (axis, is_reversed) in zip(sources, layout.ways_in, strict=True):
            place = turns - 1 - turn if is_reversed else turn
            parts.append(at.op("Gather", source, at.constant(place, "turn"), axis=axis))
        results = _one_turn(at, body, dict(zip(body.inputs, [*states, *parts], strict=True)))
        if results is None:
            return None
        states = list(results[: layout.states])
        pieces.append(list(results[layout.states :]))
    return _outcome(at, states, pieces, layout.ways_out)


def _one_turn(
    at: Attempt, body: ir.Graph, given: dict[ir.Value, ir.Value | None]
) -> Sequence[ir.Value | None] | None:
    start = len(at.made)
    results = copied_in(at, body, given)
    copies = at.made[start:]
    inside = [each for node in copies for each in inner_nodes(node)]
    for node in (*copies, *inside):
        for value in node.outputs:
            # A size that has a name is another one in another turn: it is found anew.
            if value.shape is not None and not value.shape.is_static():
                value.shape = None
    return results


def _of_rank(content: np.ndarray, value: ir.Value) -> np.ndarray:
    """A number of as many dimensions as the body says: it may have one of size 1, for ONNX Runtime."""
    return content.reshape((1,) if rank(value) == 1 else ())


def _outcome(
    at: Attempt,
    states: list[ir.Value | None],
    pieces: Sequence[Sequence[ir.Value | None]],
    ways: Sequence[tuple[int, bool]],
) -> Outcome:
    """The values that the last turn hands on, and the results of all turns, put together along an axis."""
    results = list(states)
    for number, (axis, is_reversed) in enumerate(ways):
        place = len(states) + number
        if place >= len(at.node.outputs) or not is_read(at.node.outputs[place]):
            results.append(None)
            continue
        parts = [turn[number] for turn in (reversed(pieces) if is_reversed else pieces)]
        if not all(_can_be_joined(at, each) for each in parts):
            return None
        rows = [_widened(at, each, axis) for each in parts if each is not None]
        if len(rows) != len(parts):
            return None
        results.append(rows[0] if len(rows) == 1 else at.op("Concat", *rows, axis=axis))
    return results[: len(at.node.outputs)]


def _can_be_joined(at: Attempt, value: ir.Value | None) -> bool:
    """True if `Unsqueeze` and `Concat` take a value: a loop gives types that they do not, of eight bits and fewer."""
    if value is None or value.type is None:
        return value is not None
    name = type_from_ir(value.type, None).onnx_name
    found = (registry.find("", op_type, at.version) for op_type in ("Unsqueeze", "Concat"))
    return all(op is not None and name in op.inputs[0].types for op in found)


def _widened(at: Attempt, value: ir.Value, axis: int) -> ir.Value:
    if at.version < 13:
        return at.op("Unsqueeze", value, axes=[axis])
    return at.op("Unsqueeze", value, at.constant([axis], "axes"))
