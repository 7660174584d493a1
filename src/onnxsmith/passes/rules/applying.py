"""Rules of Python functions as the worklist takes them: a function that looks at one node, filed under its operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.identity import EXACT, OUTSIDE, array_key
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.rules.bindings import Bindings, labelled
from onnxsmith.passes.rules.constants import array_of, read_only, tensor_of
from onnxsmith.passes.rules.match import Match, MatchedTensor
from onnxsmith.passes.rules.matching import Search
from onnxsmith.passes.rules.pattern import Either, Pattern, PatternNode, PatternValue, Result, makers_needed
from onnxsmith.passes.rules.replacement_imports import ImportedFunctions
from onnxsmith.passes.rules.replacing import Recording, Refusal, read_values
from onnxsmith.passes.rules.rule import Alternative, ReadRule, Rule, read_rule
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
        self.imported = ImportedFunctions(edit)
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
    imported: ImportedFunctions,
    edit: Editor,
    rule: ReadRule,
    pattern: Pattern,
    node: ir.Node,
    found: Bindings,
) -> Recording | Refusal:
    """The replacement for a match, recorded and checked; nothing is made yet."""
    recording = Recording(edit, node, rule.replacement, found, imported)
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
        recording = prepared(run.imported, edit, rule, pattern, at.node, found)
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
    at.functions = run.imported.reported()
    by_old = dict(zip(old, new, strict=True))
    values = [by_old.pop(each, None) for each in at.node.outputs]
    at.others.update(by_old)
    return values


# -- glance ----------------------------------------------------------------------------------------------------
# A quick test for a pattern at a node: by the names of operators around it, and nothing else.
#
# Most nodes that are not the end of a pattern are told so here, for a small part of what a search costs.


#: How many operators in a row are looked at.
_DEPTH = 4
#: A node with more inputs is not looked at: the ways through many of those would be too many.
_MOST_INPUTS = 8


def may_be(wanted: PatternNode, node: ir.Node, depth: int = _DEPTH) -> bool:
    """True if a node has the operator of a pattern's node, and inputs that may be what the pattern has for them."""
    if node.op_type != wanted.op_type:
        return False
    if depth == 1 or len(node.inputs) > _MOST_INPUTS:
        return True
    makers = [None if each is None else each.producer() for each in node.inputs]
    return all(_is_among(each, makers, depth - 1) for each in wanted.inputs)


def _is_among(wanted: PatternValue | None, makers: Sequence[ir.Node | None], depth: int) -> bool:
    """True if one of some nodes may make a value of the pattern; what need not be made by a node is there."""
    if isinstance(wanted, Either):
        return any(_is_among(each, makers, depth) for each in wanted.options)
    if not isinstance(wanted, Result):
        return True
    return any(each is not None and may_be(wanted.node, each, depth) for each in makers)


# -- order -----------------------------------------------------------------------------------------------------
# The order of nodes where a match has several outputs: what reads them stands after what takes their place.
#
# One replacement for several outputs stands in one place of the graph, and those who read the first output may stand
# before it. They are moved behind it, and a match whose own inputs depend on one of its outputs is refused.


#: Compared as tuples are: between two neighbours there is always room for more.
_Key: TypeAlias = tuple[int, ...]


class Order:
    """Where nodes stand in their graphs."""

    def __init__(self, edit: Editor) -> None:
        self._edit = edit
        self._keys: dict[ir.Graph, dict[ir.Node, _Key]] = {}

    def make_room(
        self,
        root: ir.Node,
        matched: Iterable[ir.Node],
        outputs: Sequence[ir.Value],
        inputs: Iterable[ir.Value],
    ) -> bool:
        """Move the root, and those who read the outputs, behind all that was matched; False where that cannot be."""
        graph = root.graph
        assert graph is not None
        inside = set(matched)
        anchor = max(inside, key=lambda each: self._key(graph, each))
        end = self._key(graph, anchor)
        moving = self._readers(graph, outputs, inside, end)
        made_by = [each.producer() for each in inputs]
        if any(each in moving for each in made_by if each is not None):
            return False
        if anchor is not root:
            graph.remove(root)
            graph.insert_after(anchor, root)
        keys = self._keys[graph]
        keys[root] = (*end, 1)
        in_order = sorted(moving, key=lambda each: keys[each])
        if in_order:
            graph.remove(in_order)
            graph.insert_after(root, in_order)
            for position, node in enumerate(in_order):
                keys[node] = (*end, 2, position)
        return True

    def enter(self, root: ir.Node, made: Iterable[ir.Node]) -> None:
        """Take note of new nodes, which will stand before the root."""
        keys = None if root.graph is None else self._keys.get(root.graph)
        if keys is not None and root in keys:
            for position, node in enumerate(made):
                keys[node] = (*keys[root], 0, position)  # the root goes: its place is theirs

    def _readers(
        self, graph: ir.Graph, outputs: Sequence[ir.Value], inside: set[ir.Node], end: _Key
    ) -> set[ir.Node]:
        """The nodes before a place that need what the outputs are, directly or not."""
        found: set[ir.Node] = set()
        waiting = list(outputs)
        while waiting:
            for use in waiting.pop().uses():
                node = self._edit.standing_in(use.node, graph)
                if node is None or node in found or node in inside or self._key(graph, node) > end:
                    continue
                found.add(node)
                waiting.extend(node.outputs)
        return found

    def _key(self, graph: ir.Graph, node: ir.Node) -> _Key:
        keys = self._keys.get(graph)
        if keys is None or node not in keys:
            keys = self._keys[graph] = {each: (position,) for position, each in enumerate(graph)}
        return keys[node]


# -- unchanged -------------------------------------------------------------------------------------------------
# Detects a replacement that changes nothing: there is nothing to do, and a rule does not feed itself.


#: Constants up to this size are compared.
_COMPARED = 1024


def is_unchanged(edit: Editor, new: Sequence[ir.Value], old: Sequence[ir.Value]) -> bool:
    """True if new values are made by the same operators of the same values."""
    seen: set[tuple[ir.Value, ir.Value]] = set()
    waiting = list(zip(new, old, strict=True))
    while waiting:
        pair = left, right = waiting.pop()
        if left is right or pair in seen:
            continue
        seen.add(pair)
        made, was = left.producer(), right.producer()
        if _is_same_constant(edit, left, right):
            continue
        if made is None or was is None or made.graph is was.graph or not _is_same_call(made, was):
            return False
        if list(made.outputs).index(left) != list(was.outputs).index(right):
            return False
        for each, other in zip(made.inputs, was.inputs, strict=True):
            if each is None or other is None:
                if each is not other:
                    return False
                continue
            waiting.append((each, other))
    return True


def _is_same_call(made: ir.Node, was: ir.Node) -> bool:
    sizes = [(len(each.inputs), len(each.outputs)) for each in (made, was)]
    return sizes[0] == sizes[1] and EXACT.node(made, _any) == EXACT.node(was, _any)


def _any(_: ir.Value) -> int:
    """The inputs are looked at apart."""
    return OUTSIDE


def _is_same_constant(edit: Editor, left: ir.Value, right: ir.Value) -> bool:
    first = array_of(edit, left, _COMPARED)
    second = None if first is None else array_of(edit, right, _COMPARED)
    return first is not None and second is not None and array_key(first) == array_key(second)
