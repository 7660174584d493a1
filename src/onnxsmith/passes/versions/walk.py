"""Every node of a model, brought from the versions that it is written for to those that are wanted.

A node moves from one definition of its operator to the next, up or down, until the target has the one that it is at.
Where nothing changed for it nothing is done; else an adapter, or the operator's function on the way down, puts other
nodes in its place, which move on by themselves. Nodes have versions of their own meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.identity import tensor_key
from onnxsmith.graphs.ir_types import CONSTANT_NUMBERS, array_to_ir
from onnxsmith.graphs.rewriting.scopes import inner_nodes
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.edits import CONVERSION, EditLog, noted
from onnxsmith.passes.values import Array
from onnxsmith.passes.versions.bodies import body_in_place
from onnxsmith.passes.versions.found_types import content_of, infer_inside, infer_numbers, use_of
from onnxsmith.passes.versions.refusals import Refused, type_beyond, why_not_older
from onnxsmith.passes.versions.step import INTO, OUT_OF, Adapter, Refusal, Step, Unchanged
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.equivalent_versions import is_newer, is_older
from onnxsmith.schema.inference.known import Known

#: How many times a node may become others on its way: bodies use operators that have bodies.
_DEEPEST = 40

#: What comes of attributes of other types, and of lists that are too short.
_MISTAKES = (TypeError, ValueError, LookupError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class _Origin:
    """The node of the given model that a new one stands for, and up to which version it could have stayed."""

    note: NodeNote
    nearest: int | None


def _nearer(one: int | None, other: int | None, *, is_down: bool) -> int | None:
    """The version that is nearer to the target."""
    if one is None or other is None:
        return one if other is None else other
    return min(one, other) if is_down else max(one, other)


#: Through so many inputs of functions a constant is followed to where it is passed.
_MOST_PASSED = 100


class Conversion(Editor):
    """A model whose nodes are of several versions until it is done."""

    def __init__(self, model: ir.Model, targets: Mapping[str, int], log: EditLog | None = None) -> None:
        super().__init__(model)
        if log is not None:
            self.log = log
        self.pass_name = CONVERSION
        self.targets = targets
        self.refused: list[Refused] = []
        #: Small ints that are known before the model runs, though they are no constants.
        self.known_numbers: dict[ir.Value, Known] = {}
        #: The inputs of functions that the question for one has led to: functions may pass theirs on again and again.
        self._asked: dict[ir.Value, ir.TensorProtocol | None] | None = None
        self._versions: dict[ir.Node, int] = {}
        self._origins: dict[ir.Node, _Origin] = {}
        self._old = {node for root in self.roots() for node in root.all_nodes()}
        self._calls = _calls(model, self._old)

    # -- what an editor is asked ------------------------------------------------------------------------

    def version(self, node: ir.Node, domain: str = "") -> int:
        """The version of a domain that a node is in, while it is on its way."""
        own = self._versions.get(node)
        return own if own is not None and domain == node.domain else super().version(node, domain)

    def tensor(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """The tensor behind a constant; of a function's input, that which all calls pass."""
        found = super().tensor(value)
        if found is not None or value is None:
            return found
        node = value.producer()
        if node is not None and node.op_type == "Constant" and not node.domain:
            return _short_constant(node)
        if node is None and value.is_graph_input():
            return self._passed(value)
        return None

    def array(self, value: ir.Value | None, most: int | None = None) -> Array | None:
        """The content of a constant, or of what is worked out of shapes that are known."""
        found = super().array(value, most)
        if found is None and value is not None and value in self.known_numbers:
            found = content_of(self.known_numbers[value])
        return None if found is None or (most is not None and found.size > most) else found

    def _passed(self, value: ir.Value) -> ir.TensorProtocol | None:
        """The tensor that all calls pass; nodes change between two questions, so that nothing is kept beyond one."""
        if self._asked is None:
            self._asked = {}
            try:
                return self._passed(value)
            finally:
                self._asked = None
        if value not in self._asked:
            if len(self._asked) >= _MOST_PASSED:
                return None
            self._asked[value] = None  # a function that calls itself passes nothing that is known
            self._asked[value] = self._passed_by_calls(value)
        return self._asked[value]

    def _passed_by_calls(self, value: ir.Value) -> ir.TensorProtocol | None:
        function = self._functions.get(value.graph) if value.graph is not None else None
        calls = [] if function is None else self._calls.get(function.identifier(), [])
        if function is None or not calls:
            return None
        position = list(function.inputs).index(value)
        passed = [
            self.tensor(each.inputs[position]) if position < len(each.inputs) else None for each in calls
        ]
        first = passed[0]
        if first is None or any(each is None for each in passed):
            return None
        # Sixty-four elements are enough for whatever was an attribute.
        if any(each is not first for each in passed) and any(
            each is None or each.size > 64 or tensor_key(each) != tensor_key(first) for each in passed
        ):
            return None
        return first

    def is_done(self) -> bool:
        """True if every node is where it should be: then nothing has to be looked at, and no types to be found."""
        seen: set[tuple[str, str, int]] = set()
        for node in self._old:
            if not self._concerns(node):
                continue
            key = (node.domain, node.op_type, self.version(node, node.domain))
            if key in seen:
                continue
            seen.add(key)
            op = registry.find(*key)
            if op is None or registry.find(node.domain, node.op_type, self.targets[node.domain]) is not op:
                return False
        return True

    def converted_functions(self) -> list[ir.Function]:
        """The functions that are called. What is never called has no types, and stays in the opset that it names."""
        return [each for each in self.model.functions.values() if self._is_called(each)]

    def _is_called(self, function: ir.Function) -> bool:
        return function.identifier() in self._calls

    # -- the walk ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Bring all nodes to their targets; what cannot be brought there is in `refused`."""
        waiting = deque((node, 0) for node in self.nodes() if self._concerns(node))
        while waiting:
            node, depth = waiting.popleft()
            if node in self.gone:
                continue
            try:
                made = self._convert(node, depth)
            except Refusal as refusal:
                self.refused.append(self._noted_refusal(node, refusal))
                continue
            for each in made:
                waiting.extend((new, depth + 1) for new in (each, *self._new_inside(each)))
        self.sweep()

    def _noted_refusal(self, node: ir.Node, refusal: Refusal) -> Refused:
        """The note of a refusal: of the node that the given model has, and the version that it could be said in."""
        given, target = super().version(node, node.domain), self.targets[node.domain]
        is_down = target < given
        origin = self._origins.get(node)
        note, reason = noted(node, self.path(node)), refusal.reason
        op = registry.find(node.domain, node.op_type, self.version(node, node.domain))
        nearest = None if op is None else self._nearest(op, is_down=is_down)
        if origin is not None:
            if origin.note.operator != note.operator:
                reason = (
                    f"in {'older' if is_down else 'newer'} opsets it is said by {note.operator}: {reason}"
                )
            note = origin.note
            nearest = _nearer(origin.nearest, nearest, is_down=is_down)
        return Refused(note, node.domain, given, target, reason, refusal.remedy, nearest)

    def _nearest(self, op: OperatorDef, *, is_down: bool) -> int | None:
        """The last version on the way in which a definition holds."""
        since, end = registry.valid_range(op)
        return since if is_down else None if end is None else end - 1

    def _new_inside(self, node: ir.Node) -> list[ir.Node]:
        """The nodes inside a new one, without those of a body that was there before: they are on their own way."""
        inside = inner_nodes(node)
        return [each for each in inside if each not in self._old]

    def _concerns(self, node: ir.Node) -> bool:
        if node.domain not in self.targets or node.op_identifier() in self.model.functions:
            return False
        function = self._functions.get(root) if (root := self.root_of(node.graph)) is not None else None
        return function is None or self._is_called(function)

    def _convert(self, node: ir.Node, depth: int) -> list[ir.Node]:
        """Move a node on; gives the nodes that came in its place."""
        if not self._concerns(node):
            return []
        target = self.targets[node.domain]
        while True:
            version = self.version(node, node.domain)
            op = registry.find(node.domain, node.op_type, version)
            if op is None:
                return self._retired(node, version, target)
            if registry.find(node.domain, node.op_type, target) is op:
                return []
            if depth > _DEEPEST:
                raise Refusal("it becomes others without end")
            _, end = registry.valid_range(op)
            if target > version:
                if end is None or end > target:  # the definition holds up to the target, or beyond
                    return []
                made = self._up(node, op, end, target)
            else:
                made = self._down(node, op, target)
            if made is not None:
                return made

    def _retired(self, node: ir.Node, version: int, target: int) -> list[ir.Node]:
        """A node of a definition that was taken back afterwards, and is in models all the same."""
        later = [since for since in registry.versions(node.domain, node.op_type) if since > version]
        adapter = INTO.get((node.domain, node.op_type, later[0])) if later and later[0] <= target else None
        if adapter is None or not later:
            if not registry.is_known_domain(node.domain):
                return []
            raise Refusal(_missing(node, version))
        return self._adapt(node, adapter, later[0], later[0], target) or []

    def _up(self, node: ir.Node, op: OperatorDef, since: int, target: int) -> list[ir.Node] | None:
        after = registry.find(op.domain, op.name, since)
        if after is not None and is_newer(op, after, [use_of(node, op)]):
            self._versions[node] = since
            return None
        adapter = INTO.get((op.domain, op.name, since))
        if adapter is None:
            raise Refusal(
                f"{op.name} went with opset {since}, and there is no other way to say it"
                if after is None or after.is_deprecated
                else f"{op.name} changed in opset {since}, and there is no other way to say it"
            )
        return self._adapt(node, adapter, since, since, target)

    def _down(self, node: ir.Node, op: OperatorDef, target: int) -> list[ir.Node] | None:
        since = op.since_version
        before = registry.find(op.domain, op.name, since - 1) if since > 1 else None
        defaults = _defaults_beyond(node, op, before)
        if before is not None and is_older(before, op, use_of(node, op, defaults)):
            self._leave_out(node, defaults)
            self._versions[node] = since - 1
            return None
        reason: Refusal | None = None
        adapter = OUT_OF.get((op.domain, op.name, since))
        if adapter is not None:
            try:
                made = self._adapt(node, adapter, since, since - 1, target, defaults)
            except Refusal as refusal:
                reason = refusal
            else:
                if made is None and before is not None:
                    self._check_kept(node, before, op)
                return made
        step = Step(self, node, since, since, target)
        values = body_in_place(step, op)
        if values is None:
            raise reason or why_not_older(op, before, use_of(node, op, defaults))
        return self._put(step, values, f"function of {op.name}-{since}")

    def _check_kept(self, node: ir.Node, before: OperatorDef, op: OperatorDef) -> None:
        use = use_of(node, op)
        if not use.fits(before):
            raise why_not_older(op, before, use)

    def _check_types(self, step: Step) -> None:
        """Refuse new nodes whose inputs are of types that they do not take in their version."""
        for node in step.made:
            op = registry.find(node.domain, node.op_type, step.at)
            wrong = None if op is None else type_beyond(op, use_of(node, op))
            if op is not None and wrong is not None and wrong.which == "input":
                self.discard(step.made)
                raise wrong.refusal(op, registry.find(node.domain, node.op_type, step.since))

    def _adapt(
        self,
        node: ir.Node,
        adapter: Adapter,
        since: int,
        at: int,
        target: int,
        defaults: frozenset[str] = frozenset(),
    ) -> list[ir.Node] | None:
        """Let an adapter put other nodes in the place of one; None where it leaves that as it is."""
        step = Step(self, node, since, at, target, self.known_numbers)
        try:
            answer = adapter(step)
        except Refusal:
            self.discard(step.made)
            raise
        except _MISTAKES as error:  # what a stranger's model says of a node may be of any kind and length
            self.discard(step.made)
            raise Refusal(f"it is not as its operator is defined: {error}") from None
        if isinstance(answer, Unchanged):
            self.discard(step.made)
            self._leave_out(node, defaults)
            self._versions[node] = at
            return None
        self._check_types(step)
        values: list[ir.Value | None] = [answer] if isinstance(answer, ir.Value) else list(answer)
        return self._put(step, values, adapter.__name__.replace("_", " "))

    def _put(self, step: Step, values: list[ir.Value | None], rule: str) -> list[ir.Node]:
        origin = self._origin_of(step)
        for each in step.made:
            for new in (each, *self._new_inside(each)):
                self._versions[new] = step.at
                self._origins[new] = origin
        values += [None] * (len(step.node.outputs) - len(values))
        before = len(step.made)
        done = self.replace(step, values, rule)
        for each in list(done.made)[before:]:  # an Identity, where an output has to be a node's own
            self._versions[each] = step.at
        infer_inside(self, done.made, step.at)
        infer_numbers(self, done.made, step.at, self.known_numbers)
        return list(done.made)

    def _origin_of(self, step: Step) -> _Origin:
        """The node that the nodes of a step stand for."""
        node = step.node
        is_down = self.targets[node.domain] < super().version(node, node.domain)
        before = self._origins.get(node)
        nearest = step.since if is_down else step.since - 1
        if before is None:
            return _Origin(noted(node, self.path(node)), nearest)
        return _Origin(before.note, _nearer(before.nearest, nearest, is_down=is_down))

    def _leave_out(self, node: ir.Node, names: frozenset[str]) -> None:
        if not names:
            return
        before = noted(node, self.path(node))
        for name in names:
            del node.attributes[name]
        self.log.add(
            Edit(CONVERSION, f"leave out the default {', '.join(sorted(names))}", (before,), (before,))
        )


def _defaults_beyond(node: ir.Node, op: OperatorDef, before: OperatorDef | None) -> frozenset[str]:
    """The attributes that an older definition does not have, with the values that they have when they are left out."""
    if before is None:
        return frozenset()
    found: set[str] = set()
    for name, attribute in node.attributes.items():
        formal = op.attributes.get(name)
        if name in before.attributes or formal is None or attribute.is_ref():
            continue
        is_ones = name == "dilations" and {1}.issuperset(attribute.as_ints())
        if is_ones or (formal.default is not None and attribute.value == formal.default):
            found.add(name)
    return frozenset(found)


def _missing(node: ir.Node, version: int) -> str:
    """Why there is no definition of a node's operator in the version that its model names."""
    there = registry.versions(node.domain, node.op_type)
    if not there:
        return f"opset {version} has no operator {node.op_type}, nor has any other"
    came = f"came with opset {there[0]}" if version < there[0] else "was taken back"
    return f"opset {version} has no operator {node.op_type}: it {came}"


def _short_constant(node: ir.Node) -> ir.TensorProtocol | None:
    for name, dtype in CONSTANT_NUMBERS.items():
        attribute = node.attributes.get(name)
        if attribute is not None and not attribute.is_ref():
            return array_to_ir(np.array(attribute.value, dtype))
    return None


def _calls(model: ir.Model, nodes: Iterable[ir.Node]) -> dict[ir.OperatorIdentifier, list[ir.Node]]:
    found: dict[ir.OperatorIdentifier, list[ir.Node]] = {}
    for node in nodes if model.functions else ():
        if node.op_identifier() in model.functions:
            found.setdefault(node.op_identifier(), []).append(node)
    return found
