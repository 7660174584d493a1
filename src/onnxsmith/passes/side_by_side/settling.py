"""Numbers that turns make of themselves in any way: blocks of turns go side by side, until all of them fit together.

Nobody knows with what a block begins before the one in front of it is done, so each begins with a guess: the number
that the loop began with. After every sweep a block begins with what the one in front of it ended with. Where that is
what it began with already, for all blocks, each turn has been given what the turn before made: the numbers are those
of the loop, bit for bit. Every sweep settles one more block, so that it takes as many turns as the loop at the most.
Mostly it takes few sweeps, for most numbers forget where they began.

Turns are run on numbers that the loop never has. That is right only where nothing in them can fail.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.loop_turns import loop_turns
from onnxsmith.passes.side_by_side.bodies import body_graph, body_input, chosen_value
from onnxsmith.passes.side_by_side.failing import cannot_fail, keeps_size
from onnxsmith.passes.side_by_side.lifting import Lifter
from onnxsmith.passes.side_by_side.linear_form import chosen_from, waiting_for
from onnxsmith.passes.side_by_side.values import CannotLift
from onnxsmith.passes.values import has_references, rank
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

#: Turns that are written out one after the other: what a turn of a `Scan` costs by itself is shared by so many.
_WRITTEN_OUT = 4
#: Fewer turns, where their number is known, stay a loop.
_FEWEST = 16
#: What may be carried.
_KINDS = frozenset(
    [ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.INT32, ir.DataType.INT64, ir.DataType.BOOL]
)
_WHOLE = int(ir.DataType.INT64)


def settled(
    lifter: Lifter,
    body: ir.Graph,
    unknown: Collection[ir.Value],
    updates: Mapping[ir.Value, ir.Value],
    given: Mapping[ir.Value, ir.Value],
) -> dict[ir.Value, ir.Value]:
    """For numbers that wait for themselves and for no others: what they are after each turn; raises CannotLift."""
    at = lifter.at
    if not at.edit.settles_loops:
        raise CannotLift("a number that each turn makes of the one before")
    turns = loop_turns(at.edit, at.node)
    if turns is not None and turns < _FEWEST:
        raise CannotLift("a number that each turn makes of the one before, for few turns")
    held = _waiting_together(body, unknown, updates)
    if not all(given[each].dtype in _KINDS for each in held):
        raise CannotLift("a number of an element type that few operators take")
    turn = _Turn(lifter, waiting_for(body, unknown), held)
    for each in held:
        turn.look_at(updates[each])
    blocks = _Blocks(lifter)
    lines = {value: blocks.cut(lifter.each(lifter.plain(value))) for value in turn.lines}
    if not lines:
        lines = {body.inputs[0]: blocks.cut(lifter.each(lifter.plain(body.inputs[0])))}
    rows = _swept(turn, blocks, lines, [updates[each] for each in held], [given[each] for each in held])
    return {each: blocks.joined(row) for each, row in zip(held, rows, strict=True)}


def _waiting_together(
    body: ir.Graph, unknown: Collection[ir.Value], updates: Mapping[ir.Value, ir.Value]
) -> list[ir.Value]:
    """The fewest of the numbers that wait for themselves and for no others."""
    waiting = {each: waiting_for(body, [each]) for each in unknown}
    needs = {held: {each for each in unknown if updates[held] in waiting[each]} for held in unknown}
    for through in unknown:  # who needs one needs what that one needs
        for held in unknown:
            if through in needs[held]:
                needs[held] |= needs[through]
    fewest = min(needs.values(), key=len)
    return [each for each in unknown if each in fewest]


class _Turn:
    """One turn of the loop, as far as the numbers wait for it."""

    def __init__(self, lifter: Lifter, waiting: Collection[ir.Value], held: Sequence[ir.Value]) -> None:
        self.lifter = lifter
        self.held = held
        self._waiting = waiting
        self._seen: set[ir.Value] = set()
        #: What each turn has of its own, and does not wait.
        self.lines: dict[ir.Value, None] = {}
        #: The turns that run a graph; the body's own is run by all.
        self._masks: dict[ir.Graph | ir.Function | None, ir.Value] = {}

    def look_at(self, value: ir.Value) -> None:
        """Note what a value is made of; raises CannotLift where that may fail, or there is no rule for it."""
        if value in self._seen or value in self.held:
            return
        self._seen.add(value)
        if rank(value) != 0:
            raise CannotLift("an array waits")
        if value not in self._waiting:
            if self.lifter.plain(value).is_each:
                if value.dtype not in _KINDS:
                    raise CannotLift("numbers of an element type that few operators take")
                self.lines[value] = None
            return
        node = value.producer()
        if node is None or node.domain or has_references(node) or is_random(node):
            raise CannotLift("a number that each turn makes of the one before")
        for each in node.inputs:
            if each is not None:
                self.look_at(each)
        if node.op_type == "If":
            self._look_at_branches(node, value)
        elif not cannot_fail(self.lifter.at.edit, node) or not (
            node.op_type in ELEMENTWISE or keeps_size(node)
        ):
            raise CannotLift("a node may fail on numbers that the loop never has")

    def _look_at_branches(self, node: ir.Node, value: ir.Value) -> None:
        if node.inputs[0] not in self._waiting:
            self._lift_branches(node)
        else:
            self._look_ahead(node)
        for each in chosen_from(node, value) or ():
            self.look_at(each)

    def _lift_branches(self, node: ir.Node) -> None:
        """Lift what branches compute that does not wait, where it is known which turns take them."""
        lifter = self.lifter
        before, lifter.mask = lifter.mask, self._masks.get(node.graph)
        taken = lifter.each(lifter.number(node.inputs[0]))
        around = lifter.mask
        for name, mask in (("then_branch", taken), ("else_branch", lifter.at.op("Not", taken))):
            graph = node.attributes[name].as_graph()
            self._masks[graph] = lifter.mask = lifter.both(around, mask)
            lifter.graph(graph, self._waiting)
        lifter.mask = before

    def _look_ahead(self, node: ir.Node) -> None:
        """Lift what branches compute that does not wait, where a turn takes one that nobody knows before."""
        for name in ("then_branch", "else_branch"):
            graph = node.attributes[name].as_graph()
            for each in self.lifter.at.edit.living(graph):
                if any(output in self._waiting for output in each.outputs):
                    continue
                if has_graphs(each) or not self._can_go_ahead(each):
                    raise CannotLift("a node may fail that is not always run")
            self.lifter.graph(graph, self._waiting)

    def _can_go_ahead(self, node: ir.Node) -> bool:
        """True if a node may run in turns that do not take its branch."""
        if cannot_fail(self.lifter.at.edit, node):
            return True
        return node.op_type == "Gather" and self.lifter.has_gathered(node)

    def made(self, value: ir.Value, made: dict[ir.Value, ir.Value]) -> ir.Value:
        """A value in the turn of all blocks; `made` are those that are there."""
        found = made.get(value)
        if found is not None:
            return found
        if value not in self._waiting:
            return self.lifter.plain(value).value
        at, node = self.lifter.at, value.producer()
        assert node is not None
        inputs = [None if each is None else self.made(each, made) for each in node.inputs]
        if node.op_type == "If":
            one, other = (self.made(each, made) for each in chosen_from(node, value) or ())
            assert inputs[0] is not None
            result = chosen_value(at, inputs[0], one, other)
        elif node.op_type == "Identity":
            assert inputs[0] is not None
            result = inputs[0]
        else:
            result = at.op(node.op_type, *inputs, attributes=dict(node.attributes))
        made[value] = result
        return result


class _Blocks:
    """How turns are cut into blocks: about as many as each has turns, so that a sweep costs more than looking at it."""

    def __init__(self, lifter: Lifter) -> None:
        at = self._at = lifter.at
        self._count = lifter.count
        # In floats: ONNX Runtime's kernels for whole numbers are watched over, which costs nodes.
        count = at.op("Cast", lifter.count, to=int(ir.DataType.DOUBLE))
        one = at.constant(np.array([1.0]))
        share = at.op("Mul", at.op("Sqrt", count), at.constant(np.array([1.0 / _WRITTEN_OUT])))
        pieces = at.op("Max", at.op("Ceil", share), one)
        length = at.op("Mul", pieces, at.constant(np.array([float(_WRITTEN_OUT)])))
        blocks = at.op("Max", at.op("Ceil", at.op("Div", count, length)), one)
        #: How often turns are written out in a block.
        self._pieces = at.op("Cast", pieces, to=_WHOLE)
        self._length = at.op("Cast", length, to=_WHOLE)
        #: How many blocks there are: one of no turns, too.
        self.count = at.op("Cast", blocks, to=_WHOLE)
        missing = at.op("Sub", at.op("Mul", self.count, self._length), lifter.count)
        self._padding = at.op("Concat", at.constant([0]), missing, axis=0)

    def cut(self, line: ir.Value) -> ir.Value:
        """The values of all turns, arranged as a row of all blocks for each turn that is written out."""
        at = self._at
        full = at.op("Pad", line, self._padding)
        square = at.op("Reshape", full, at.op("Concat", self.count, self._length, axis=0))
        across = at.op("Transpose", square, perm=[1, 0])
        return at.op("Reshape", across, at.op("Concat", self._pieces, at.constant([-1]), axis=0))

    def joined(self, rows: ir.Value) -> ir.Value:
        """The way back."""
        at = self._at
        across = at.op("Reshape", rows, at.op("Concat", self._length, self.count, axis=0))
        line = at.op("Reshape", at.op("Transpose", across, perm=[1, 0]), at.constant([-1], "shape"))
        return at.op("Slice", line, at.constant([0]), self._count, at.constant([0]))


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The inputs of a sweep: the first values of the blocks, and the results of the last sweep, which nobody reads."""

    starts: list[ir.Value]
    rows: list[ir.Value]


def _swept(
    turn: _Turn,
    blocks: _Blocks,
    lines: Mapping[ir.Value, ir.Value],
    updates: Sequence[ir.Value],
    given: Sequence[ir.Value],
) -> Sequence[ir.Value]:
    """The numbers after each turn, in rows, after as many sweeps as it takes."""
    at = turn.lifter.at
    kinds = [each.dtype for each in given if each.dtype is not None]
    firsts = [at.op("Unsqueeze", each, at.constant([0], "axes")) for each in given]
    guesses = [at.op("Expand", each, blocks.count) for each in given]
    nothing = [at.constant(np.zeros((1, 1), kind.numpy()), "rows") for kind in kinds]
    number, going = body_input(at, "sweep", ir.DataType.INT64), body_input(at, "going", ir.DataType.BOOL)
    sweep = _Sweep(
        [body_input(at, "starts", kind, is_number=False) for kind in kinds],
        [body_input(at, "rows", kind, is_number=False) for kind in kinds],
    )

    def build() -> list[ir.Value]:
        steps = _steps(turn, lines, updates, kinds)
        made = at.ops(
            "Scan",
            *sweep.starts,
            *lines.values(),
            outputs=2 * len(kinds),
            num_scan_inputs=len(lines),
            body=steps,
        )
        ends, rows = made[: len(kinds)], made[len(kinds) :]
        ahead = at.constant([0]), at.constant([-1]), at.constant([0])
        starts = [
            at.op("Concat", first, at.op("Slice", _as_vector(at, end), *ahead), axis=0)
            for first, end in zip(firsts, ends, strict=True)
        ]
        others = [_others(at, *each) for each in zip(starts, sweep.starts, kinds, strict=True)]
        some = others[0] if len(others) == 1 else at.op("Sum", *others)
        return [at.op("Greater", some, at.constant(np.array(0, np.float32))), *starts, *rows]

    graph = body_graph(at, "sweep", [number, going, *sweep.starts, *sweep.rows], build)
    most = at.op("Squeeze", blocks.count, at.constant([0], "axes"))
    results = at.ops("Loop", most, None, *guesses, *nothing, outputs=2 * len(kinds), body=graph)
    return results[len(kinds) :]


def _steps(
    turn: _Turn,
    lines: Mapping[ir.Value, ir.Value],
    updates: Sequence[ir.Value],
    kinds: Sequence[ir.DataType],
) -> ir.Graph:
    """The body of a `Scan`: turns written out one after the other, each of all blocks."""
    at = turn.lifter.at
    states = [body_input(at, "state", kind, is_number=False) for kind in kinds]
    given: list[ir.Value] = []
    for line in lines:
        assert line.dtype is not None
        given.append(body_input(at, "each", line.dtype, is_number=False))

    def build() -> list[ir.Value]:
        parts = [
            at.ops("Split", _as_vector(at, each), outputs=_WRITTEN_OUT, axis=0, num_outputs=_WRITTEN_OUT)
            for each in given
        ]
        now = [_as_vector(at, each) for each in states]
        after: list[list[ir.Value]] = []
        for step in range(_WRITTEN_OUT):
            made = dict(zip(turn.held, now, strict=True))
            made.update({line: part[step] for line, part in zip(lines, parts, strict=True)})
            now = [turn.made(each, made) for each in updates]
            after.append(now)
        rows = [at.op("Concat", *[each[place] for each in after], axis=0) for place in range(len(states))]
        return [*[at.op("Identity", each) for each in now], *rows]

    return body_graph(at, "turns", [*states, *given], build)


def _as_vector(at: Attempt, value: ir.Value) -> ir.Value:
    """The same vector. No one believes what graphs say of their inputs; unknown ranks are checked when it runs."""
    return at.op("Reshape", value, at.constant([-1], "shape"))


def _others(at: Attempt, one: ir.Value, two: ir.Value, kind: ir.DataType) -> ir.Value:
    """How many numbers of two vectors are not the same number, as a float: zeros have signs, and no NaN is equal."""
    same = at.op("Equal", one, two)
    if kind.is_floating_point():
        inverses = at.op("Equal", at.op("Reciprocal", one), at.op("Reciprocal", two))
        neither = at.op("And", at.op("IsNaN", one), at.op("IsNaN", two))
        same = at.op("Or", at.op("And", same, inverses), neither)
    differ = at.op("Cast", at.op("Not", same), to=int(ir.DataType.FLOAT))
    return at.op("ReduceSum", differ, keepdims=0)
