"""Rules applied to a fixed point: each node is looked at once, and again only after something around it has changed.

The cost grows with the nodes and the changes, not with their product. Rules that undo each other cannot hang it: the
changes that one run may make are bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.passes.editor import Attempt, Editor, Rule
from onnxsmith.passes.edits import Replaced
from onnxsmith.runtime.adapting import FACT_KEY

#: Changes that a run may make for each node that it begins with.
_MOST_CHANGES = 20


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule, and what the log calls it."""

    name: str
    rule: Rule
    #: It has nothing to say unless, for each of these sets, an input of the node is made by an operator in it.
    needs: tuple[frozenset[str], ...] = ()

    def may_apply(self, makers: frozenset[str]) -> bool:
        """True if it may have something to say of a node whose inputs are made by these operators."""
        return all(not each.isdisjoint(makers) for each in self.needs)


#: Rules by domain and operator.
Rules: TypeAlias = Mapping[tuple[str, str], Sequence[NamedRule]]


def joined(*tables: Rules) -> dict[tuple[str, str], list[NamedRule]]:
    """One table of several, those of the first before those of the others."""
    result: dict[tuple[str, str], list[NamedRule]] = {}
    for table in tables:
        for key, rules in table.items():
            result.setdefault(key, []).extend(rules)
    return result


def rule_table(*tables: Mapping[str, Sequence[Rule]]) -> dict[tuple[str, str], list[NamedRule]]:
    """One table of several by operator of the standard domain; a rule is called what its function is."""
    result: dict[tuple[str, str], list[NamedRule]] = {}
    for table in tables:
        for operator, rules in table.items():
            named = [NamedRule(each.__name__.replace("_", " "), each) for each in rules]
            result.setdefault(("", operator), []).extend(named)
    return result


class Worklist:
    """Nodes that are to be looked at."""

    def __init__(self, edit: Editor, rules: Rules, every: Sequence[NamedRule] = ()) -> None:
        """`every` are rules for nodes of any operator, which come before its own."""
        self._edit = edit
        self._rules = {key: (*every, *found) for key, found in rules.items()}
        self._every = tuple(every)
        #: The operators that have rules which need others around them; and those that may apply, once they were asked.
        self._choosy = {key for key, found in self._rules.items() if any(each.needs for each in found)}
        self._chosen: dict[tuple[tuple[str, str], frozenset[str]], tuple[NamedRule, ...]] = {}
        self._queue: deque[ir.Node] = deque()
        self._queued: set[ir.Node] = set()
        #: Whether it came to an end by itself.
        self.is_complete = True

    def run(self, nodes: Iterable[ir.Node] | None = None) -> int:
        """Apply the rules, to all nodes or to some and what they concern; returns how many changes there were."""
        edit = self._edit
        first = list(edit.nodes()) if nodes is None else list(nodes)
        self._add(first)
        budget = _MOST_CHANGES * len(first) + 1000
        changes = 0
        while self._queue and not edit.is_spent:
            node = self._queue.popleft()
            self._queued.discard(node)
            if node in edit.gone:
                continue
            if self._look(node):
                changes += 1
                if changes > budget:
                    self.is_complete = False
                    break
        edit.sweep()
        return changes

    def _look(self, node: ir.Node) -> bool:
        if FACT_KEY in node.metadata_props:
            return False  # it was put in for a runtime, which gets something wrong without it
        for each in self._candidates(node):
            attempt = Attempt(self._edit, node)
            outcome = each.rule(attempt)
            if outcome is None:
                if attempt.made:
                    self._edit.discard(attempt.made)
                continue
            values = [outcome] if isinstance(outcome, ir.Value) else list(outcome)
            values += [None] * (len(node.outputs) - len(values))
            around = self._edit.around(node)
            self._follow(self._edit.replace(attempt, values, each.name))
            if around is not None:
                self._add([around])  # rules look into the bodies of loops
            return True
        return False

    def _candidates(self, node: ir.Node) -> Sequence[NamedRule]:
        """The rules that may have something to say of a node."""
        key = (node.domain, node.op_type)
        rules = self._rules.get(key, self._every)
        if key not in self._choosy:
            return rules
        makers = frozenset(
            [
                maker.op_type
                for each in node.inputs
                if each is not None and (maker := each.producer()) is not None
            ]
        )
        chosen = self._chosen.get((key, makers))
        if chosen is None:
            chosen = self._chosen[key, makers] = tuple([each for each in rules if each.may_apply(makers)])
        return chosen

    def _follow(self, done: Replaced) -> None:
        self._add(done.made)
        for node in done.made:
            for graph in bodies_of(node):
                self._add(graph.all_nodes())
        for value in done.values:
            self._add(use.node for use in value.uses())
        self._add(done.neighbours)

    def _add(self, nodes: Iterable[ir.Node]) -> None:
        queued, gone = self._queued, self._edit.gone
        for node in nodes:
            if node not in queued and node not in gone:
                queued.add(node)
                self._queue.append(node)
