"""Rules of Python functions as the worklist takes them: a function that looks at one node, filed under its operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.rules.bindings import Bindings, labelled
from onnxsmith.passes.rules.brought import Brought
from onnxsmith.passes.rules.constants import array_of, read_only, tensor_of
from onnxsmith.passes.rules.glance import may_be
from onnxsmith.passes.rules.match import Match, MatchedTensor
from onnxsmith.passes.rules.matching import Search
from onnxsmith.passes.rules.order import Order
from onnxsmith.passes.rules.pattern import Pattern, makers_needed
from onnxsmith.passes.rules.replacing import Recording, Refusal, read_values
from onnxsmith.passes.rules.rule import Alternative, ReadRule, Rule, read_rule
from onnxsmith.passes.rules.unchanged import is_unchanged
from onnxsmith.passes.values import Array
from onnxsmith.passes.worklist import NamedRule

#: Changes that one rule may make, for each node of the model and besides.
_MOST_PER_NODE = 4
_MOST_ANYWAY = 1000


class Application:
    """One run of rules over one model: where nodes stand, and what is worth telling afterwards."""

    def __init__(self, edit: Editor, *, is_forgiving: bool = False) -> None:
        """`is_forgiving` is for rules of ours: where a replacement cannot work, the model is wrong, and stays so."""
        self.edit = edit
        self.is_forgiving = is_forgiving
        self.order = Order(edit)
        self.brought = Brought(edit)
        self._most = _MOST_PER_NODE * sum(1 for _ in edit.nodes()) + _MOST_ANYWAY
        self._counts: Counter[str] = Counter()
        #: Where a rule matches and does not apply, by its name, and why.
        self._refused: dict[str, dict[ir.Node, str]] = {}
        #: The functions that the model was given by each rule. What a rule made is no place where it could apply.
        self._functions: dict[str, list[ir.Function]] = {}

    def table(self, rules: Sequence[Rule]) -> dict[tuple[str, str], list[NamedRule]]:
        """The rules by the operator that each begins at, in the order that they are given in."""
        result: dict[tuple[str, str], list[NamedRule]] = {}
        for rule in map(read_rule, rules):
            for each in rule.alternatives:
                root = each.pattern.root
                named = NamedRule(rule.name, self._function(rule, each), makers_needed(root))
                result.setdefault((root.domain, root.op_type), []).append(named)
        return result

    def _function(self, rule: ReadRule, alternative: Alternative) -> Callable[[Attempt], Outcome]:
        def look(at: Attempt) -> Outcome:
            if self._counts[rule.name] > self._most:
                return None
            outcome = apply(self, rule, alternative, at)
            refused = self._refused.setdefault(rule.name, {})
            if isinstance(outcome, Refusal):
                if outcome.reason:
                    refused[at.node] = outcome.reason
                return None
            self._counts[rule.name] += 1
            refused.pop(at.node, None)
            self._functions.setdefault(rule.name, []).extend(at.functions)
            return outcome

        return look

    def notes(self) -> list[str]:
        """The notes of the report besides the changes."""
        endless = [name for name, count in self._counts.items() if count > self._most]
        return [
            *(
                f"rule '{name}' did not apply at {_count(nodes)}: {reason}"
                for name in self._refused
                for reason, nodes in self._reasons(name).items()
            ),
            *(
                f"rule '{name}' was stopped after {self._most} changes: what it makes is matched again, without end"
                for name in endless
            ),
        ]

    def _reasons(self, name: str) -> Counter[str]:
        """Why a rule did not apply, and at how many nodes of what it was given."""
        own = self._functions.get(name, [])
        return Counter(
            reason
            for node, reason in self._refused[name].items()
            if self.edit.function_around(node) not in own
        )


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def apply(
    run: Application, rule: ReadRule, alternative: Alternative, at: Attempt
) -> Sequence[ir.Value | None] | Refusal:
    """Look for a pattern at a node; what shall be read instead of the node's outputs, or why nothing shall."""
    edit = run.edit
    if not may_be(alternative.pattern.root, at.node):
        return Refusal("")
    search = Search(edit, alternative.pattern, commutative=rule.is_commutative)
    found = search.run(at.node)
    if found is None:
        return Refusal(
            "the search was given up, so many ways are there to match" if search.is_exhausted else ""
        )
    refused = condition(edit, rule, at.node, found)
    if refused is not None:
        return refused
    return _replace(run, rule, alternative.pattern, at, found)


def condition(edit: Editor, rule: ReadRule, node: ir.Node, found: Bindings) -> Refusal | None:
    """Why the condition of a rule does not hold; None where it holds."""
    if rule.when is None:
        return None
    try:
        return None if rule.when(_match(edit, node, found)) else Refusal("its condition says no")
    except Exception as error:  # the user's own function: what it stumbles over is no match
        return Refusal(f"its condition raised {type(error).__name__}: {error}")


def _match(edit: Editor, node: ir.Node, found: Bindings) -> Match:
    values: dict[str, object] = {name: _tensor(edit, each) for name, each in found.tensors.items()}
    values |= {name: tuple([_tensor(edit, each) for each in group]) for name, group in found.rest.items()}
    return Match(node.name or "", {**values, **found.captured})


def _tensor(edit: Editor, value: ir.Value) -> MatchedTensor:
    def content() -> Array:
        array = array_of(edit, value)
        assert array is not None  # it is a constant
        return read_only(array)

    kind = type_from_ir(value.type, value.shape)
    return MatchedTensor(value.name or "", kind, None if tensor_of(edit, value) is None else content, value)


def prepared(
    brought: Brought, edit: Editor, rule: ReadRule, pattern: Pattern, node: ir.Node, found: Bindings
) -> Recording | Refusal:
    """The replacement for a match, recorded and checked; nothing is made yet."""
    recording = Recording(edit, node, rule.replacement, found, brought)
    try:
        refused = recording.run(len(pattern.outputs)) or recording.mismatch(replaced_values(pattern, found))
    except OnnxsmithError as error:
        error.message += f", in the replacement of rule '{rule.name}' at {labelled(node)}"
        raise
    return recording if refused is None else refused


def replaced_values(pattern: Pattern, found: Bindings) -> list[ir.Value]:
    """The values of the model that are the outputs of a pattern."""
    return [found.nodes[each.node].outputs[each.position] for each in pattern.outputs]


def _replace(
    run: Application, rule: ReadRule, pattern: Pattern, at: Attempt, found: Bindings
) -> Sequence[ir.Value | None] | Refusal:
    edit, order = run.edit, run.order
    try:
        recording = prepared(run.brought, edit, rule, pattern, at.node, found)
    except OnnxsmithError:
        if not run.is_forgiving:
            raise
        return Refusal("")
    if isinstance(recording, Refusal):
        return recording
    old = replaced_values(pattern, found)
    new = recording.copy_in(at)
    if new is None or is_unchanged(edit, new, old):
        return Refusal("")
    has_others = any(each.producer() is not at.node for each in old)
    if has_others and not order.make_room(at.node, found.nodes.values(), old, read_values(found)):
        return Refusal("what it reads depends on what it gives")
    order.enter(at.node, at.made)
    at.functions = run.brought.told()
    by_old = dict(zip(old, new, strict=True))
    values = [by_old.pop(each, None) for each in at.node.outputs]
    at.others.update(by_old)
    return values
