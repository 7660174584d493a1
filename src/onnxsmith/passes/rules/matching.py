"""A pattern found in a model: from one node up through its inputs, and down again to the other outputs.

Operators that commute and alternatives are choices: what was tried and did not fit is taken back. The work for one
node is bounded, so that no model can make it endless. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import onnx_ir as ir

from onnxsmith.graphs.identity import is_random
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.annotations import type_mismatch
from onnxsmith.passes.rules.bindings import Bindings, Part, Watcher, labelled, shown
from onnxsmith.passes.rules.constants import BROADCASTING, captured_value, is_same, number_of, tensor_of
from onnxsmith.passes.rules.definitions import ABSENT, attribute_mismatch, captured_attribute, means
from onnxsmith.passes.rules.pattern import (
    AnyTensor,
    CapturedAttribute,
    CapturedNumber,
    Either,
    Literal,
    Pattern,
    PatternNode,
    PatternValue,
    Result,
)
from onnxsmith.passes.rules.same_functions import has_functions
from onnxsmith.passes.values import is_read, rank
from onnxsmith.schema.definition import parameter_at

#: Steps that looking for one pattern at one node may take, and more for each node of the pattern.
_MOST_STEPS = 1000
_STEPS_PER_NODE = 50
#: Elements of a captured list.
_LONGEST_LIST = 1024

#: Operators that give the same for their inputs in any order.
COMMUTATIVE = frozenset(
    {
        "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Max", "Mean", "Min", "Mul", "Or", "Sum",
        "Xor",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _ValueGoal:
    """A value of the pattern shall be a value of the model, which a node reads at a position."""

    wanted: PatternValue
    value: ir.Value | None
    reader: ir.Node


@dataclass(frozen=True, slots=True, eq=False)
class _OperandsGoal:
    """Inputs of a node that commutes, in any order; what is left is for `rest`."""

    wanted: tuple[PatternValue, ...]
    values: tuple[ir.Value | None, ...]
    rest: AnyTensor | None
    reader: ir.Node


#: What is left to do, as a linked list.
_Goals: TypeAlias = "tuple[_ValueGoal | _OperandsGoal, _Goals] | None"


class Search:
    """One search for one pattern at one node."""

    def __init__(
        self,
        edit: Editor,
        pattern: Pattern,
        *,
        commutative: bool = True,
        watcher: Watcher | None = None,
        closest_first: bool = False,
    ) -> None:
        """`closest_first` is for telling why there is no match: what commutes is tried by what it looks like."""
        self._edit = edit
        self._pattern = pattern
        self._commutative = commutative
        self._watcher = watcher
        self._closest_first = closest_first
        self._steps = _MOST_STEPS + _STEPS_PER_NODE * len(pattern.nodes)
        self._undo: list[tuple[dict[Any, Any], object]] = []
        self._graph: ir.Graph | None = None
        self._outputs = {each.node for each in pattern.outputs}
        self.found = Bindings()

    @property
    def is_exhausted(self) -> bool:
        """True if it gave up, rather than finding that there is no match."""
        return self._steps < 0

    def run(self, root: ir.Node) -> Bindings | None:
        """The bindings of the pattern at a node; None where it is not there."""
        self._graph = root.graph
        goals = self._node(self._pattern.root, root, None)
        return self.found if goals is not _FAILED and self._solve(goals) else None

    # -- choices ----------------------------------------------------------------------------------------

    def _solve(self, goals: Any) -> bool:
        while goals is not None:
            self._steps -= 1
            if self._steps < 0:
                return False
            goal, goals = goals
            if isinstance(goal, _OperandsGoal):
                if not goal.wanted:
                    if goal.rest is not None and not self._bind_rest(goal.rest, goal.values):
                        return False
                    continue
                if len(goal.wanted) == len(goal.values) == 1:
                    goals = (_ValueGoal(goal.wanted[0], goal.values[0], goal.reader), goals)
                    continue
                return self._any_of(self._orders(goal), goals)
            wanted = goal.wanted
            if isinstance(wanted, Either):
                options = (_ValueGoal(each, goal.value, goal.reader) for each in wanted.options)
                return self._any_of(((each,) for each in options), goals)
            if isinstance(wanted, Result):
                goals = self._result(wanted, goal, goals)
                if goals is _FAILED:
                    return False
            elif not self._leaf(wanted, goal):
                return False
        return self._other_outputs()

    def _any_of(self, choices: Iterator[tuple[_ValueGoal | _OperandsGoal, ...]], goals: Any) -> bool:
        mark = len(self._undo)
        for choice in choices:
            more = goals
            for each in reversed(choice):
                more = (each, more)
            if self._solve(more):
                return True
            self._back_to(mark)
            if self._steps < 0:
                return False
        return False

    def _orders(self, goal: _OperandsGoal) -> Iterator[tuple[_ValueGoal | _OperandsGoal, ...]]:
        first, *others = goal.wanted
        places = list(enumerate(goal.values))
        if self._closest_first:
            # The part that is most like an operand, and that operand, before others: what fails then is what differs.
            wanted = sorted(
                goal.wanted, key=lambda part: -max(self._likeness(part, each) for each in goal.values)
            )
            first, *others = wanted
            places.sort(key=lambda place: -self._likeness(first, place[1]))
        tried: set[ir.Value | None] = set()
        for position, value in places:
            if value in tried:
                continue
            tried.add(value)
            left = goal.values[:position] + goal.values[position + 1 :]
            yield (
                _ValueGoal(first, value, goal.reader),
                _OperandsGoal(tuple(others), left, goal.rest, goal.reader),
            )

    def _likeness(self, part: PatternValue, value: ir.Value | None) -> int:
        """How much an operand is like a part of the pattern, at a glance."""
        node = None if value is None else value.producer()
        if isinstance(part, Result):
            return 2 * (node is not None and node.op_type == part.node.op_type)
        if isinstance(part, AnyTensor):
            return 0
        return int(tensor_of(self._edit, value) is not None)

    def _back_to(self, mark: int) -> None:
        while len(self._undo) > mark:
            table, key = self._undo.pop()
            del table[key]

    def _set(self, table: dict[Any, Any], key: object, value: object) -> None:
        table[key] = value
        self._undo.append((table, key))

    def _fail(self, part: Part, reason: str) -> bool:
        if self._watcher is not None:
            self._watcher.fails(part, reason, self.found)
        return False

    # -- nodes ------------------------------------------------------------------------------------------

    def _result(self, wanted: Result, goal: _ValueGoal, goals: Any) -> Any:
        value = goal.value
        node = None if value is None else value.producer()
        if value is None or node is None:
            self._fail(wanted.node, f"{shown(value)} is made by no node")
            return _FAILED
        if node.outputs[wanted.position if wanted.position < len(node.outputs) else 0] is not value:
            self._fail(wanted.node, f"{shown(value)} is not output {wanted.position} of {labelled(node)}")
            return _FAILED
        return self._node(wanted.node, node, goals)

    def _node(self, wanted: PatternNode, node: ir.Node, goals: Any) -> Any:
        """Take a node for one of the pattern; what is to be found then, or _FAILED."""
        known = self.found.nodes.get(wanted)
        if known is not None:
            if known is node:
                return goals
            self._fail(wanted, f"it is {labelled(known)} elsewhere, and {labelled(node)} here")
            return _FAILED
        if self._watcher is None and node.op_type != wanted.op_type:
            return _FAILED  # the most frequent of all, without words
        problem = self._mismatch(wanted, node)
        if problem is not None:
            self._fail(wanted, problem)
            return _FAILED
        self._set(self.found.nodes, wanted, node)
        for name, each in wanted.attributes.items():
            if isinstance(each, CapturedAttribute) and not self._capture_attribute(wanted, node, name, each):
                return _FAILED
        more = self._inputs(wanted, node, goals)
        if more is not _FAILED and self._watcher is not None:
            self._watcher.fits(wanted, node.outputs[0])
        return more

    def _mismatch(self, wanted: PatternNode, node: ir.Node) -> str | None:
        if node.op_type != wanted.op_type or node.domain != wanted.domain:
            return f"{labelled(node)} is no {wanted.op_type}"
        if node.graph is not self._graph:
            return f"{labelled(node)} is in another graph"
        if not means(self._edit, node, wanted):
            own = self._edit.version(node, node.domain)
            return (
                f"{labelled(node)} is of opset {own}, where it means something else than in {wanted.version}"
            )
        if wanted.functions and not has_functions(self._edit.functions, wanted.functions):
            return f"{labelled(node)} calls another function of that name"
        problem = attribute_mismatch(self._edit, node, wanted)
        if problem is not None:
            return f"{labelled(node)}: {problem}"
        if self._is_taken(wanted, node):
            return f"{labelled(node)} is another operator of the pattern already"
        return self._output_mismatch(wanted, node)

    def _is_taken(self, wanted: PatternNode, node: ir.Node) -> bool:
        """True if a node stands for another one of the pattern: equal ones may be one, but not what is replaced."""
        if not any(each is node for each in self.found.nodes.values()):
            return False
        others = [each for each, found in self.found.nodes.items() if found is node]
        return is_random(node) or wanted in self._outputs or any(each in self._outputs for each in others)

    def _output_mismatch(self, wanted: PatternNode, node: ir.Node) -> str | None:
        count, formal = wanted.output_count, wanted.definition.outputs
        last = parameter_at(formal, max(count, len(node.outputs)) - 1)
        is_counted = wanted.definition.is_known and last is not None and last.option == "variadic"
        if len(node.outputs) < count or (is_counted and len(node.outputs) != count):
            return f"{labelled(node)} has {len(node.outputs)} outputs, not {count}"
        if any(is_read(each) for each in node.outputs[count:]):
            return f"{labelled(node)} has more outputs that are read"
        return None

    def _capture_attribute(
        self, wanted: PatternNode, node: ir.Node, name: str, captured: CapturedAttribute
    ) -> bool:
        given = node.attributes.get(name)
        if given is not None and (given.is_ref() or int(given.type) != int(captured.type)):
            return self._fail(
                wanted, f"{labelled(node)}: {name} has no value here that '{captured.name}' can be"
            )
        value = captured_attribute(self._edit, node, name)
        if value is ABSENT:
            return self._fail(wanted, f"{labelled(node)}: {name} is left out, and has no default")
        return self._capture(wanted, captured.name, bool(value) if captured.kind.scalar is bool else value)

    def _capture(self, part: Part, name: str, value: object) -> bool:
        if name in self.found.captured:
            known = self.found.captured[name]
            return known == value or self._fail(part, f"{name} is {known} elsewhere, and {value} here")
        self._set(self.found.captured, name, value)
        return True

    def _inputs(self, wanted: PatternNode, node: ir.Node, goals: Any) -> Any:
        values: Sequence[ir.Value | None] = tuple(node.inputs)
        expected = wanted.inputs
        rest = next((each for each in expected if isinstance(each, AnyTensor) and each.is_rest), None)
        if wanted.allows_inputs:
            values = values[: len(expected)]
        if rest is None:
            while len(values) > len(expected) and values[-1] is None:
                values = values[:-1]
            values = (*values, *[None] * (len(expected) - len(values)))
        if len(values) != len(expected) and (rest is None or len(values) < len(expected) - 1):
            self._fail(wanted, f"{labelled(node)} has {len(values)} inputs, not {len(expected)}")
            return _FAILED
        if self._commutative and not wanted.domain and wanted.op_type in COMMUTATIVE:
            named = sorted([each for each in expected if each is not None and each is not rest], key=_freedom)
            return (_OperandsGoal(tuple(named), tuple(values), rest, node), goals)
        if rest is not None:
            position = expected.index(rest)
            end = len(values) - (len(expected) - position - 1)
            if not self._bind_rest(rest, values[position:end]):
                return _FAILED
            expected = (*expected[:position], *expected[position + 1 :])
            values = (*values[:position], *values[end:])
        for each, value in reversed(list(zip(expected, values, strict=True))):
            if each is not None:
                goals = (_ValueGoal(each, value, node), goals)
            elif value is not None:
                self._fail(wanted, f"{labelled(node)} reads {shown(value)}, an input that is left out here")
                return _FAILED
        return goals

    # -- values that are no results ----------------------------------------------------------------------

    def _leaf(self, wanted: AnyTensor | Literal | CapturedNumber, goal: _ValueGoal) -> bool:
        value = goal.value
        if value is None:
            return self._fail(wanted, f"{labelled(goal.reader)} leaves this input out")
        if isinstance(wanted, AnyTensor):
            fits = self._bind(wanted, value)
        elif isinstance(wanted, Literal):
            fits = self._literal(wanted, value, goal.reader)
        else:
            fits = self._number(wanted, value, goal.reader)
        if fits and self._watcher is not None:
            self._watcher.fits(wanted, value)
        return fits

    def _bind(self, wanted: AnyTensor, value: ir.Value) -> bool:
        known = self.found.tensors.get(wanted.name)
        if known is not None:
            return known is value or self._fail(
                wanted, f"{wanted.name} is {shown(known)} elsewhere, and {shown(value)} here"
            )
        if wanted.must_be_constant and tensor_of(self._edit, value) is None:
            return self._fail(wanted, f"{shown(value)} is no constant")
        if not self._is_of_type(wanted, value):
            return False
        self._set(self.found.tensors, wanted.name, value)
        return True

    def _bind_rest(self, wanted: AnyTensor, values: Sequence[ir.Value | None]) -> bool:
        present = tuple([each for each in values if each is not None])
        if len(present) != len(values):
            return self._fail(wanted, "an input is left out")
        known = self.found.rest.get(wanted.name)
        if known is not None:
            return known == present or self._fail(wanted, f"*{wanted.name} is something else elsewhere")
        if not all(self._is_of_type(wanted, each) for each in present):
            return False
        self._set(self.found.rest, wanted.name, present)
        if self._watcher is not None:
            self._watcher.fits(wanted, present[0] if present else None)
        return True

    def _is_of_type(self, wanted: AnyTensor, value: ir.Value) -> bool:
        sizes = dict(self.found.sizes)
        problem = type_mismatch(wanted.type, value, sizes)
        if problem is not None:
            return self._fail(wanted, f"{shown(value)}: {problem}")
        for name, size in sizes.items():
            if name not in self.found.sizes:
                self._set(self.found.sizes, name, size)
        return True

    def _literal(self, wanted: Literal, value: ir.Value, reader: ir.Node) -> bool:
        found = number_of(self._edit, value, wanted.array.size)
        if found is None or found.size != wanted.array.size:
            return self._fail(wanted, f"{shown(value)} is no such constant")
        if not is_same(wanted, found):
            content = found.tolist() if found.size <= 8 else "something else"
            return self._fail(wanted, f"{shown(value)} is {content}")
        return bool(wanted.array.ndim) or self._keeps_shape(wanted, value, found.ndim, reader)

    def _number(self, wanted: CapturedNumber, value: ir.Value, reader: ir.Node) -> bool:
        found = number_of(self._edit, value, _LONGEST_LIST if wanted.kind.is_list else 1)
        number = None if found is None else captured_value(wanted.kind, found)
        if found is None or number is None:
            kind = (
                f"list of {wanted.kind.scalar.__name__}s"
                if wanted.kind.is_list
                else wanted.kind.scalar.__name__
            )
            return self._fail(wanted, f"{shown(value)} is no constant that is one {kind}")
        if not wanted.kind.is_list and not self._keeps_shape(wanted, value, found.ndim, reader):
            return False
        return self._capture(wanted, wanted.name, number)

    def _keeps_shape(self, wanted: Part, value: ir.Value, own_rank: int, reader: ir.Node) -> bool:
        """True if a number of one element, of some rank, is the same as one without dimensions where it is read."""
        if not own_rank:
            return True
        if not reader.domain and reader.op_type in BROADCASTING:
            others = [each for each in reader.inputs if each is not value and not self._is_single(each)]
            if any(found is not None and found >= own_rank for found in map(rank, others)):
                return True
        return self._fail(wanted, f"{shown(value)} has {own_rank} dimensions, which would be lost")

    def _is_single(self, value: ir.Value | None) -> bool:
        tensor = tensor_of(self._edit, value)
        return tensor is not None and tensor.size == 1

    # -- the whole --------------------------------------------------------------------------------------

    def _other_outputs(self) -> bool:
        """Find the nodes that the root does not lead to: they read something that is known by now."""
        nodes = self.found.nodes
        missing = [each for each in self._pattern.nodes if each not in nodes]
        for wanted in missing:
            for each in wanted.inputs:
                value = self._known_value(each)
                if value is not None:
                    return self._find(wanted, value)
        return not missing and self._is_closed()

    def _known_value(self, wanted: PatternValue | None) -> ir.Value | None:
        if isinstance(wanted, AnyTensor):
            return self.found.tensors.get(wanted.name)
        if isinstance(wanted, Result) and wanted.node in self.found.nodes:
            return self.found.nodes[wanted.node].outputs[wanted.position]
        return None

    def _find(self, wanted: PatternNode, value: ir.Value) -> bool:
        mark = len(self._undo)
        tried: set[ir.Node] = set()
        self._fail(wanted, f"no {wanted.op_type} reads {shown(value)}")
        for use in value.uses():
            if use.node in tried:
                continue
            tried.add(use.node)
            self._steps -= 1
            if self._steps < 0:
                return False
            goals = self._node(wanted, use.node, None)
            if goals is not _FAILED and self._solve(goals):
                return True
            self._back_to(mark)
        return False

    def _is_closed(self) -> bool:
        """True if nobody outside reads what is inside."""
        nodes = self.found.nodes
        inside = set(nodes.values())
        outputs = {nodes[each.node].outputs[each.position] for each in self._pattern.outputs}
        if any(each in outputs for each in self.found.tensors.values()):
            return self._fail(self._pattern.root, "an output of the pattern is one of its inputs as well")
        for wanted, node in nodes.items():
            for value in node.outputs:
                if value in outputs:
                    continue
                if value.is_graph_output():
                    return self._fail(wanted, f"{shown(value)} is an output of the graph")
                reader = next((use.node for use in value.uses() if use.node not in inside), None)
                if reader is not None:
                    return self._fail(wanted, f"{shown(value)} is also read by {labelled(reader)}")
        return True


#: A search that cannot go on.
_FAILED: Any = object()


def _freedom(value: PatternValue) -> int:
    """The sort key of values: the most certain one is looked for first."""
    if isinstance(value, AnyTensor):
        return 3
    return 2 if isinstance(value, Either | CapturedNumber) else 1 if isinstance(value, Result) else 0
