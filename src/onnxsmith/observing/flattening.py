"""The straight line of nodes that one run of a model takes: calls, branches and turns of loops in their places.

A model that is run on given inputs takes one branch of each `If`, and a number of turns of each `Loop`. With these
known, the run is a list of steps without any control flow, each the run of one node of the model. Of loops with many
turns the first are taken apart, or those that are asked for, and the others are a few steps of several turns each.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.copying import Copier, resolved
from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.graphs.rewriting.scopes import bodies_of, values_read
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.inspection import Graph, Node, Nodes
from onnxsmith.observing.loops import MOST_TURNS, Collected, number_from, scan_of, turn_ranges
from onnxsmith.runtime.kernels_in_python import kernel_of

#: No more steps are made of loops than this.
_MOST_STEPS = 20_000
#: The first version of Scan without a batch.
_FIRST_SCAN = 9

Environment: TypeAlias = dict[ir.Value, "ir.Value | None"]
#: Runs what was made so far, and gives these values of it.
Ask: TypeAlias = "Callable[[Straight, Sequence[ir.Value]], Sequence[RunValue]]"


@dataclass(frozen=True, slots=True)
class Step:
    """One run of one node."""

    #: The node as it is run, in the straight line.
    run: ir.Node
    #: The node of the model.
    node: Node
    #: The turns of the loops around it, outermost first.
    turns: tuple[int, ...] = ()
    #: The calls of functions around it, outermost first.
    calls: tuple[str, ...] = ()
    #: The last turn where it is several turns of a loop together, of which `turns` has the first.
    until: int | None = None


class Made(NamedTuple):
    """A node that was run, with the values of the line that are its results, as far as it has some."""

    node: Node
    outputs: tuple[ir.Value | None, ...]
    turns: tuple[int, ...]
    calls: tuple[str, ...]


class Place(NamedTuple):
    """Where steps are run: in which turns of loops, in which calls."""

    turns: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()

    def inside(self, call: str) -> Place:
        """In a call."""
        return Place(self.turns, (*self.calls, call))


@dataclass(slots=True)
class _Pending:
    """A node with bodies that is not taken apart yet."""

    step: Step
    environment: Environment
    given: Mapping[str, ir.Attr]

    def copy(self, outputs: int | None = None) -> ir.Node:
        """The node once more, as it is run; it may have other outputs."""
        return Copier(self.given).node(self.step.node.ir, self.environment, outputs)


@dataclass(slots=True)
class Straight:
    """The steps of a run, in order."""

    nodes: Nodes
    held: ir.Model
    #: Domains and versions, those of functions included.
    imports: dict[str, int]
    inputs: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    steps: list[Step] = field(default_factory=list[Step])
    #: All nodes that were run, those among them that became other steps.
    made: list[Made] = field(default_factory=list[Made])
    outputs: list[ir.Value] = field(default_factory=list[ir.Value])
    #: Weights and constants.
    constants: dict[ir.Value, ir.TensorProtocol] = field(default_factory=dict[ir.Value, ir.TensorProtocol])
    #: What the model calls those of them that it holds.
    weight_names: dict[ir.Value, str] = field(default_factory=dict[ir.Value, str])
    #: What values that a node with bodies gave are, after it was taken apart.
    aliases: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    #: Control flow that stayed one step, with the reason.
    whole: dict[ir.Node, str] = field(default_factory=dict[ir.Node, str])
    #: Which way control flow went, in words, in the order in which that was known.
    ways: dict[Step, str] = field(default_factory=dict["Step", str])
    #: What is worth a word besides.
    notes: dict[str, None] = field(default_factory=dict[str, None])
    #: The place of each step by its id, and the list that this is true of.
    _positions: dict[int, int] = field(default_factory=dict[int, int])
    _ordered: list[Step] | None = None

    def actual(self, value: ir.Value) -> ir.Value:
        """The value that stands for another by now."""
        while value in self.aliases:
            value = self.aliases[value]
        return value

    def in_order(self, steps: Mapping[int, Step]) -> list[Step]:
        """Some steps by their ids in the order in which they run."""
        if len(steps) <= 1:
            return list(steps.values())
        if self._ordered is not self.steps or len(self._positions) != len(self.steps):  # it is being made
            self._positions = {id(step): number for number, step in enumerate(self.steps)}
            self._ordered = self.steps
        return sorted(steps.values(), key=lambda step: self._positions[id(step)])

    def taken(self, step: Step) -> Iterator[ir.Value]:
        """The values that a step takes, also in bodies of a step that stayed whole; some may be other values by now."""
        if step.run in self.whole:
            return values_read(step.run)
        return (each for each in step.run.inputs if each is not None)


class _Flattening:
    def __init__(self, nodes: Nodes, held: ir.Model, closer: Mapping[str, range]) -> None:
        self.line = Straight(nodes, held, dict(held.opset_imports))
        self._nodes = nodes
        self._pending: dict[ir.Node, _Pending] = {}
        self._closer = closer
        self._numbers = 0

    def named(self, value: ir.Value) -> ir.Value:
        self._numbers += 1
        value.name = f"v{self._numbers}"
        return value

    def constant(self, tensor: ir.TensorProtocol, name: str | None = None) -> ir.Value:
        value = self.named(ir.Value(name=None))
        self.line.constants[value] = tensor
        if name:
            self.line.weight_names[value] = name
        return value

    # -- copying ---------------------------------------------------------------------------------------

    def body(
        self, graph: Graph, environment: Environment, given: Mapping[str, ir.Attr], place: Place
    ) -> list[Step]:
        for value in graph.ir.initializers.values():
            if value.const_value is not None and value not in environment:
                environment[value] = self.constant(value.const_value, value.name)
        made: list[Step] = []
        for node in graph.nodes:
            made += self._copied(node, environment, given, place)
            outputs = tuple(environment.get(each) for each in node.ir.outputs)
            self.line.made.append(Made(node, outputs, place.turns, place.calls))
        return made

    def _copied(
        self, node: Node, environment: Environment, given: Mapping[str, ir.Attr], place: Place
    ) -> list[Step]:
        function = node.function
        if function is not None and self._can_inline(node):
            return self._call(node, function, environment, given, place)
        tensor = _constant_of(node, given)
        if tensor is not None:
            held = node.ir.outputs[0]
            environment[held] = self.constant(tensor, held.name)
            return []
        run = Copier(given).node(node.ir, environment)
        for old, new in zip(node.ir.outputs, run.outputs, strict=True):
            environment[old] = self.named(new) if old.name else new
        step = Step(run, node, place.turns, place.calls)
        if node.bodies:
            self._pending[run] = _Pending(step, dict(environment), given)
            self.line.whole[run] = "it is run as a whole"
        return [step]

    def _can_inline(self, node: Node) -> bool:
        function = self.line.held.functions[node.ir.op_identifier()]
        imports = self.line.imports
        is_same = all(
            imports.get(each, version) == version for each, version in function.opset_imports.items()
        )
        # A function with a kernel in Python is one step, whether its kernel or its body is run.
        has_kernel = kernel_of(node.ir.domain, node.ir.op_type) is not None
        return is_same and not has_kernel and len(self.line.steps) < _MOST_STEPS

    def _call(
        self,
        node: Node,
        function: Graph,
        outer: Environment,
        given: Mapping[str, ir.Attr],
        place: Place,
    ) -> list[Step]:
        held = self.line.held.functions[node.ir.op_identifier()]
        for domain, version in held.opset_imports.items():
            self.line.imports.setdefault(domain, version)
        attributes = {name: each for name, each in held.attributes.items() if each.value is not None}
        found = {name: resolved(each, given) for name, each in node.ir.attributes.items()}
        attributes.update((name, each) for name, each in found.items() if each is not None)
        environment: Environment = dict.fromkeys(function.ir.inputs)
        for formal, value in zip(function.ir.inputs, node.ir.inputs, strict=False):
            environment[formal] = None if value is None else outer.get(value, value)
        made = self.body(function, environment, attributes, place.inside(node.address))
        for formal, value in zip(function.ir.outputs, node.ir.outputs, strict=False):
            outer[value] = environment.get(formal, formal)
        return made

    # -- control flow ----------------------------------------------------------------------------------

    def take_apart(self, ask: Ask) -> bool:
        """Take the nodes with bodies apart that stand in the line; whether there were any."""
        waiting = [each for each in self.line.steps if each.run in self._pending]
        if not waiting:
            return False
        wanted = [
            self.line.actual(step.run.inputs[0]) for step in waiting if _is_if(step) and step.run.inputs[0]
        ]
        conditions = iter(ask(self.line, wanted))
        chosen = {step.run: bool(np.asarray(next(conditions))) for step in waiting if _is_if(step)}
        turns = self._turns([step for step in waiting if _is_loop(step)], ask)
        turns |= self._scanned([step for step in waiting if _is_scan(step)], ask)
        self.line.ways.update(
            (step, f"the {'then' if chosen[step.run] else 'else'} branch")
            for step in waiting
            if step.run in chosen
        )
        lines: list[Step] = []
        for step in self.line.steps:
            pending = self._pending.pop(step.run, None)
            if pending is None:
                lines.append(step)
            elif step.run in chosen:
                lines += self._branch(pending, chosen[step.run])
            elif turns.get(step.run):
                ranges = self._ranges(pending.step, turns[step.run])
                lines += (self._scan if _is_scan(step) else self._loop)(pending, ranges)
            else:
                lines.append(step)
        self.line.steps = lines
        return True

    def _branch(self, pending: _Pending, is_taken: bool) -> list[Step]:
        step = pending.step
        graph = step.node.attributes["then_branch" if is_taken else "else_branch"]
        assert isinstance(graph, Graph)
        made = self.body(graph, pending.environment, pending.given, Place(step.turns, step.calls))
        for inner, outer in zip(graph.ir.outputs, step.run.outputs, strict=False):
            self._is_now(outer, pending.environment.get(inner, inner))
        del self.line.whole[step.run]
        return made

    def _is_now(self, value: ir.Value, other: ir.Value | None) -> None:
        if other is not None and other is not value:
            self.line.aliases[value] = other

    def _turns(self, loops: Sequence[Step], ask: Ask) -> dict[ir.Node, int]:
        """How often each loop runs: a copy of it counts its turns."""
        if not loops:
            return {}
        probes = Straight(self._nodes, self.line.held, self.line.imports)
        probes.inputs, probes.steps = self.line.inputs, list(self.line.steps)
        probes.constants, probes.aliases, probes.whole = (
            self.line.constants,
            self.line.aliases,
            dict(self.line.whole),
        )
        counts: list[ir.Value] = []
        for step in loops:
            pending = self._pending[step.run]
            probe = pending.copy(len(step.run.outputs) + 1)
            for value in probe.outputs:
                self.named(value)
            body = probe.attributes["body"].as_graph()
            counted = ir.Node("", "Identity", [body.inputs[0]], num_outputs=1)
            counted.outputs[0].name = f"{body.inputs[0].name}_counted_turn"
            counted.outputs[0].type, counted.outputs[0].shape = ir.TensorType(ir.DataType.INT64), ir.Shape(())
            body.append(counted)
            body.outputs.append(counted.outputs[0])
            probes.steps.append(Step(probe, step.node))
            probes.whole[probe] = "it counts"
            counts.append(probe.outputs[-1])
        found = ask(probes, counts)
        result: dict[ir.Node, int] = {}
        for step, count in zip(loops, found, strict=True):
            number = int(np.asarray(count).size)
            self.line.ways[step] = f"{number} turn{'s' * (number != 1)}"
            result[step.run] = number
        return result

    def _scanned(self, scans: Sequence[Step], ask: Ask) -> dict[ir.Node, int]:
        """How often each Scan runs: as often as what it goes through is long."""
        version = self.line.imports.get("", 0)
        known = [(step, scan_of(step.run)) for step in scans if version >= _FIRST_SCAN]
        found = ask(self.line, [self.line.actual(scan.inputs[0]) for _, scan in known])
        result: dict[ir.Node, int] = {}
        for (step, scan), value in zip(known, found, strict=True):
            number = int(np.shape(cast(Any, value))[scan.input_axes[0]])
            self.line.ways[step] = f"{number} turn{'s' * (number != 1)}"
            if number > MOST_TURNS and any((*scan.is_backward, *scan.gives_backward)):
                self.line.whole[step.run] = f"it has {number} turns, and goes backward"
            else:
                result[step.run] = number
        return result

    def _ranges(self, step: Step, count: int) -> list[range]:
        """The turns of a loop that are taken apart, each for itself, and those that are run together."""
        body = max(1, sum(1 for _ in step.node.bodies[0].ir.all_nodes()))
        room = (_MOST_STEPS - len(self.line.steps)) // body
        ranges = turn_ranges(count, room, self._closer.get(step.node.address))
        single = sum(len(each) == 1 for each in ranges)
        if single < count:
            self.line.notes[
                f"node {step.node.address} ({step.node.operator}) has {count} turns: {single} were compared one by "
                f"one, and the others in {len(ranges) - single} parts"
            ] = None
        return ranges

    def _loop(self, pending: _Pending, ranges: Sequence[range]) -> list[Step]:
        step = pending.step
        graph = step.node.bodies[0]
        carried = [None if each is None else self.line.actual(each) for each in step.run.inputs[2:]]
        scanned: list[list[Collected]] = [[] for _ in graph.ir.outputs[1 + len(carried) :]]
        made: list[Step] = []
        for turns in ranges:
            if len(turns) > 1:
                run = self._part_of_loop(pending, turns, carried)
                made.append(Step(run, step.node, (*step.turns, turns[0]), step.calls, turns[-1]))
                carried = list(run.outputs[: len(carried)])
                for collected, value in zip(scanned, run.outputs[len(carried) :], strict=True):
                    collected.append(Collected(value, is_several=True))
                continue
            (turn,) = turns
            environment = dict(pending.environment)
            first = self.constant(array_to_ir(np.array(turn, np.int64)))
            goes_on = self.constant(array_to_ir(np.array(True)))
            environment.update(zip(graph.ir.inputs, [first, goes_on, *carried], strict=False))
            place = Place((*step.turns, turn), step.calls)
            made += self.body(graph, environment, pending.given, place)
            results = [environment.get(each, each) for each in graph.ir.outputs[1:]]
            carried = results[: len(carried)]
            for collected, value in zip(scanned, results[len(carried) :], strict=True):
                assert value is not None
                collected.append(Collected(value))
        made += self._finished(step, carried, scanned, [0] * len(scanned))
        return made

    def _part_of_loop(self, pending: _Pending, turns: range, carried: Sequence[ir.Value | None]) -> ir.Node:
        """Some turns of a loop as a loop of its own, whose turns are numbered as in the whole."""
        run = pending.copy()
        count = self.constant(array_to_ir(np.array(len(turns), np.int64)))
        goes_on = self.constant(array_to_ir(np.array(True)))
        for place, value in enumerate((count, goes_on, *carried)):
            run.replace_input_with(place, value)
        for value in run.outputs:
            self.named(value)
        body = run.attributes["body"].as_graph()
        start = self.constant(array_to_ir(np.array(turns[0], np.int64)))
        number_from(body, start)
        self.line.whole[run] = ""
        return run

    def _scan(self, pending: _Pending, ranges: Sequence[range]) -> list[Step]:
        step = pending.step
        graph = step.node.bodies[0]
        scan = scan_of(step.run)
        inputs = [self.line.actual(each) for each in scan.inputs]
        carried = [None if each is None else self.line.actual(each) for each in scan.states]
        scanned: list[list[Collected]] = [[] for _ in graph.ir.outputs[len(carried) :]]
        count = ranges[-1].stop
        made: list[Step] = []
        for turns in ranges:
            taken: list[ir.Value] = []
            for value, axis, is_backward in zip(inputs, scan.input_axes, scan.is_backward, strict=True):
                first = count - 1 - turns[0] if is_backward else turns[0]
                node = self._cut(value, axis, [first] if len(turns) == 1 else [first, turns.stop])
                made.append(Step(node, step.node, (*step.turns, turns[0]), step.calls))
                taken.append(node.outputs[0])
            if len(turns) > 1:
                run = pending.copy()
                for place, each in enumerate((*carried, *taken)):
                    run.replace_input_with(place, each)
                for value in run.outputs:
                    self.named(value)
                self.line.whole[run] = ""
                made.append(Step(run, step.node, (*step.turns, turns[0]), step.calls, turns[-1]))
                results: list[ir.Value | None] = list(run.outputs)
            else:
                environment = dict(pending.environment)
                environment.update(zip(graph.ir.inputs, [*carried, *taken], strict=False))
                place = Place((*step.turns, turns[0]), step.calls)
                made += self.body(graph, environment, pending.given, place)
                results = [environment.get(each, each) for each in graph.ir.outputs]
            carried = results[: len(carried)]
            for collected, value in zip(scanned, results[len(carried) :], strict=True):
                assert value is not None
                collected.append(Collected(value, is_several=len(turns) > 1))
        for collected, is_backward in zip(scanned, scan.gives_backward, strict=True):
            if is_backward:
                collected.reverse()
        made += self._finished(step, carried, scanned, scan.output_axes)
        return made

    def _cut(self, value: ir.Value, axis: int, where: Sequence[int]) -> ir.Node:
        """The node that takes the part of one turn, or of several, from a value that is gone through."""
        if len(where) == 1:
            place = self.constant(array_to_ir(np.array(where[0], np.int64)))
            node = ir.Node("", "Gather", [value, place], [ir.AttrInt64("axis", axis)], num_outputs=1)
        else:
            bounds = [self.constant(array_to_ir(np.array([each], np.int64))) for each in (*where, axis)]
            node = ir.Node("", "Slice", [value, *bounds], num_outputs=1)
        self.named(node.outputs[0])
        return node

    def _finished(
        self,
        step: Step,
        carried: Sequence[ir.Value | None],
        scanned: Sequence[Sequence[Collected]],
        axes: Sequence[int],
    ) -> list[Step]:
        """The results of a loop: the values that it carries, and the results of its turns one after the other."""
        for outer, value in zip(step.run.outputs, carried, strict=False):
            self._is_now(outer, value)
        made: list[Step] = []
        for outer, values, axis in zip(step.run.outputs[len(carried) :], scanned, axes, strict=False):
            if outer.name:
                made += self._stacked(step, outer, values, axis)
        del self.line.whole[step.run]
        return made

    def _stacked(self, step: Step, outer: ir.Value, values: Sequence[Collected], axis: int) -> list[Step]:
        """The collected values of a loop: the results of its turns, one after the other."""
        axes = self.constant(array_to_ir(np.array([axis], np.int64)))
        nodes: list[ir.Node] = []
        parts: list[ir.Value] = []
        for value, is_several in values:
            if not is_several:
                nodes.append(ir.Node("", "Unsqueeze", [value, axes], num_outputs=1))
                value = self.named(nodes[-1].outputs[0])
            parts.append(value)
        joined = ir.Node("", "Concat", parts, [ir.AttrInt64("axis", axis)], num_outputs=1)
        self.line.aliases[outer] = self.named(joined.outputs[0])
        return [Step(each, step.node, step.turns, step.calls) for each in (*nodes, joined)]


def _is_if(step: Step) -> bool:
    return step.run.op_type == "If" and not step.run.domain


def _is_loop(step: Step) -> bool:
    return step.run.op_type == "Loop" and not step.run.domain


def _is_scan(step: Step) -> bool:
    return step.run.op_type == "Scan" and not step.run.domain


def _constant_of(node: Node, given: Mapping[str, ir.Attr]) -> ir.TensorProtocol | None:
    """The tensor of a Constant node that holds one."""
    if node.op_type != "Constant" or node.domain:
        return None
    held = node.ir.attributes.get("value")
    attribute = None if held is None else resolved(held, given)
    return (
        attribute.as_tensor() if attribute is not None and attribute.type == ir.AttributeType.TENSOR else None
    )


def straightened(
    nodes: Nodes, held: ir.Model, given: Container[str], closer: Mapping[str, range], ask: Ask
) -> Straight:
    """The steps that a run takes on inputs of these names; `ask` runs what was made so far.

    `closer` has turns of loops to be looked at more closely than others, by the address of the loop.
    """
    flattening = _Flattening(nodes, held, closer)
    line = flattening.line
    graph = nodes.graph
    environment: Environment = {}
    for value in graph.ir.inputs:
        if value.name in graph.ir.initializers and (value.name or "") not in given:
            continue  # its default is a weight
        environment[value] = line.inputs[value.name or ""] = flattening.named(
            ir.Value(name=None, type=value.type)
        )
    line.steps = flattening.body(graph, environment, {}, Place())
    outputs = [environment.get(each, each) for each in graph.ir.outputs]
    line.outputs = [each for each in outputs if each is not None]
    while flattening.take_apart(ask):
        pass
    line.outputs = [line.actual(each) for each in line.outputs]
    return line


def outermost(nodes: Nodes, held: ir.Model, given: Container[str]) -> Straight:
    """The nodes of the outermost graph as they are, one step each: what is inside them is run as a whole."""
    line = Straight(nodes, held, dict(held.opset_imports))
    graph = nodes.graph
    weights = graph.ir.initializers
    line.inputs = {
        name: each for each in graph.ir.inputs if (name := each.name or "") not in weights or name in given
    }
    line.constants = {
        each: each.const_value
        for name, each in weights.items()
        if each.const_value is not None and name not in line.inputs
    }
    for node in graph.nodes:
        line.steps.append(Step(node.ir, node))
        line.made.append(Made(node, tuple(node.ir.outputs), (), ()))
        if any(bodies_of(node.ir)):
            line.whole[node.ir] = "it is run as a whole"
    line.outputs = list(graph.ir.outputs)
    return line
