"""`explain_match`: how far a rule gets at a node, and what it stops at, as a tree of the pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import onnx_ir as ir

from onnxsmith.diagnostics import described_type, did_you_mean, printable
from onnxsmith.errors import RuleError
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.passes.editor import Attempt, Editor
from onnxsmith.passes.rules.applying import condition, prepared
from onnxsmith.passes.rules.bindings import Bindings, Part, labelled
from onnxsmith.passes.rules.matching import Search
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
from onnxsmith.passes.rules.replacement_imports import ImportedFunctions
from onnxsmith.passes.rules.replacing import Refusal
from onnxsmith.passes.rules.rule import Alternative, ReadRule, Rule, read_rule
from onnxsmith.passes.typing_values import DeclaredTypes

_IrNode: TypeAlias = ir.Node

_FOUND, _MISSING, _OPEN = "✓", "✗", "·"


@dataclass(frozen=True, slots=True)
class MatchExplanation:
    """How far a rule gets at a node: `matches` says whether it applies, `reason` why not, and its text shows both.

    >>> from onnxsmith import FLOAT, Rule, explain_match, opset21 as op, trace
    >>> rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: op.Max(-x, 0.0))
    >>> model = trace(lambda x: op.Relu(op.Abs(x)), FLOAT["N"])
    >>> explain_match(model, "relu", rule).matches
    False
    """

    matches: bool
    reason: str
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return str(self)


class _Farthest:
    """Remembers the attempt that found the most of a pattern."""

    def __init__(self) -> None:
        self.part: Part | None = None
        self.reason = ""
        self.found = Bindings()
        self.values: dict[Part, ir.Value | None] = {}
        self._now: dict[Part, ir.Value | None] = {}
        self._score = -1

    def fits(self, part: Part, value: ir.Value | None) -> None:
        self._now[part] = value

    def fails(self, part: Part, reason: str, found: Bindings) -> None:
        leaves = len(found.tensors) + len(found.captured) + len(found.rest)
        # Of two that got as far, an operator tells more than a number that was tried in its place.
        score = len(found.nodes) * 1000 + leaves * 2 + isinstance(part, PatternNode)
        if score > self._score:
            self._score, self.part, self.reason = score, part, reason
            self.found = _copied(found)
            self.values = dict(self._now)


def _copied(found: Bindings) -> Bindings:
    return Bindings(dict(found.nodes), dict(found.tensors), dict(found.rest), dict(found.captured))


@model_boundary
def explain_match(model: ModelLike, node: str | NamedNode, rule: Rule) -> MatchExplanation:
    """How far a rule gets at a node of a model, by the node's name or that of an output, and why it stops there.

    A node of `model.nodes` is taken as well.

    >>> from onnxsmith import FLOAT, Rule, explain_match, opset21 as op, trace
    >>> rule = Rule(lambda x: op.Relu(op.Neg(x)), lambda x: op.Max(-x, 0.0), name="example")
    >>> model = trace(lambda x: op.Relu(op.Abs(x)), FLOAT["N"])
    >>> print(explain_match(model, "relu", rule))
    rule 'example' does not match at Relu 'relu'
      ✓ Relu 'relu'
        ✗ Neg: Abs 'abs' is no Neg
          · x
    """
    model = model_of(model, "explain_match")
    if not isinstance(rule, Rule):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise RuleError("explain_match needs a Rule last", help="explain_match(model, 'node', rule)")
    changed = model.ir.clone()
    edit = Editor(changed)
    DeclaredTypes(changed).fill()
    start = _find(edit, node if isinstance(node, str) else _name_of(node))
    read = read_rule(rule)
    tried = [_Try(edit, read, each, start) for each in read.alternatives]
    best = max(tried, key=lambda each: each.score)
    verb = "matches" if best.matches else "does not match"
    lines = [f"rule '{rule.name}' {verb} at {labelled(start)}", *best.lines()]
    return MatchExplanation(best.matches, best.reason, printable("\n".join(lines)))


class NamedNode(Protocol):
    """A node of `model.nodes`."""

    @property
    def ir(self) -> _IrNode: ...


def _name_of(node: NamedNode) -> str:
    held = getattr(node, "ir", None)
    if not isinstance(held, ir.Node):
        raise RuleError(
            f"explain_match takes the name of a node, not {described_type(type(node))}",
            help="the name of a node, or of its output, or model.nodes[3]",
        )
    return next((each.name for each in held.outputs if each.name), held.name or "")


def _find(edit: Editor, name: str) -> ir.Node:
    """The node of a name. Raises RuleError where there is none."""
    names: dict[str, ir.Node] = {}
    for node in edit.nodes():
        if node.name == name:
            return node
        for each in node.outputs:
            names.setdefault(each.name or "", node)
        names.setdefault(node.name or "", node)
    if name in names:
        return names[name]
    raise RuleError(
        f"the model has no node {name!r}",
        help=did_you_mean(str(name), names) or "give the name of a node, or of its output",
    )


class _Try:
    """One pattern of a rule, looked for at a node."""

    def __init__(self, edit: Editor, rule: ReadRule, alternative: Alternative, node: ir.Node) -> None:
        self._pattern = alternative.pattern
        self._farthest = _Farthest()
        self._after = ""
        self._known: dict[Part, str] = {}
        search = Search(edit, self._pattern, commutative=rule.is_commutative)
        found = search.run(node)
        self.matches = found is not None
        if found is None:
            # Once more, to see how far it gets where each operand is compared with the one that it is most like.
            watched = Search(
                edit,
                self._pattern,
                commutative=rule.is_commutative,
                watcher=self._farthest,
                closest_first=True,
            )
            watched.run(node)
            self.reason = self._farthest.reason
            if search.is_exhausted:
                self._after = (
                    "the search was given up: there are too many ways to match, each of which fails late"
                )
                self.reason = self._after
        else:
            self.reason = ""
            self._judge(edit, rule, node, found)
        self.found = self._farthest.found if found is None else found
        self.score = (self.matches, len(self.found.nodes), len(self.found.tensors))

    def _judge(self, edit: Editor, rule: ReadRule, node: ir.Node, found: Bindings) -> None:
        refused = condition(edit, rule, node, found)
        if refused is not None:
            self._refuse(refused.reason)
            return
        replacement = prepared(ImportedFunctions(edit), edit, rule, self._pattern, node, found)
        if isinstance(replacement, Refusal):
            self._refuse(f"its replacement: {replacement.reason or 'it declines'}")
            return
        made = Attempt(edit, node)
        replacement.copy_in(made)
        operators = " + ".join(
            each.op_type for each in made.made if each.op_type != "Constant" or each.domain
        )
        self._after = f"{_FOUND} becomes {operators}" if operators else f"{_FOUND} is left out"
        edit.discard(made.made)

    def _refuse(self, reason: str) -> None:
        self.matches, self.reason, self._after = False, reason, f"{_MISSING} {reason}"

    def lines(self) -> list[str]:
        drawing = _Drawing(self._farthest, self.found, is_whole=not self._farthest_failed)
        for each in _ends(self._pattern):
            drawing.draw(each, 1)
        return [*drawing.lines, *([f"  {self._after}"] if self._after else [])]

    @property
    def _farthest_failed(self) -> bool:
        return self.found is self._farthest.found


def _ends(pattern: Pattern) -> list[PatternNode]:
    """The nodes that the tree begins at: the root, and outputs that it does not lead to."""
    below: set[PatternNode] = set()
    for node in pattern.nodes:
        below.update(each.node for each in node.inputs if isinstance(each, Result))
    others = [
        each.node for each in pattern.outputs if each.node is not pattern.root and each.node not in below
    ]
    return list(dict.fromkeys([pattern.root, *others]))


@dataclass(slots=True)
class _Drawing:
    """The lines of the tree."""

    farthest: _Farthest
    found: Bindings
    is_whole: bool
    lines: list[str] = field(default_factory=list[str])
    _drawn: set[PatternNode] = field(default_factory=set[PatternNode])

    def draw(self, part: PatternValue | PatternNode, depth: int, *, is_reached: bool = True) -> None:
        """A part of the pattern, and below it what it reads; nothing is found below what is not."""
        if isinstance(part, Result):
            part = part.node
        if isinstance(part, PatternNode):
            self._node(part, depth)
        elif isinstance(part, Either):
            self._line(_FOUND if self._is_in(part) else _OPEN, "either", depth)
            for each in part.options:
                self.draw(each, depth + 1)
        else:
            self._leaf(part, depth, is_reached)

    def _node(self, part: PatternNode, depth: int) -> None:
        node = self.found.nodes.get(part)
        name = part.op_type
        captured = [
            f"{attribute}={self.found.captured.get(each.name, '?')}"
            for attribute, each in part.attributes.items()
            if isinstance(each, CapturedAttribute)
        ]
        words = f"{name} '{node.name or node.outputs[0].name}'" if node is not None else name
        words += f" ({', '.join(captured)})" if captured and node is not None else ""
        if part in self._drawn:
            self._line(_FOUND if node is not None else _OPEN, f"{words}, as above", depth)
            return
        self._drawn.add(part)
        self._marked(part, node is not None, words, depth)
        for each in part.inputs:
            if each is not None:
                self.draw(each, depth + 1, is_reached=node is not None)

    def _leaf(self, part: AnyTensor | Literal | CapturedNumber, depth: int, is_reached: bool) -> None:
        words = str(part)
        if not is_reached:
            self._line(_OPEN, words, depth)
            return
        if isinstance(part, AnyTensor) and part.is_rest:
            values = self.found.rest.get(part.name)
            words += "" if values is None else f" = {', '.join(repr(each.name) for each in values)}"
            is_found = values is not None
        elif isinstance(part, AnyTensor):
            value = self.found.tensors.get(part.name)
            words += "" if value is None else f" = '{value.name}'"
            is_found = value is not None
        elif isinstance(part, CapturedNumber):
            is_found = part.name in self.found.captured
            words += f" = {self.found.captured[part.name]}" if is_found else ""
        else:
            is_found = self.is_whole or part in self.farthest.values
        self._marked(part, is_found, words, depth)

    def _is_in(self, part: Either) -> bool:
        return self.is_whole or any(
            isinstance(each, Result) and each.node in self.found.nodes for each in part.options
        )

    def _marked(self, part: Part, is_found: bool, words: str, depth: int) -> None:
        if not self.is_whole and part is self.farthest.part:
            self._line(_MISSING, f"{words}: {self.farthest.reason}", depth)
        else:
            self._line(_FOUND if is_found else _OPEN, words, depth)

    def _line(self, mark: str, words: str, depth: int) -> None:
        self.lines.append(f"{'  ' * depth}{mark} {words}")
