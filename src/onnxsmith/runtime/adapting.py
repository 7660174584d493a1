"""A model as the installed ONNX Runtime gets it right: the table of facts applied to every node that one concerns.

A model without such a node is given back as it is. What a fact is and how it is met stands in `facts`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set
from typing import Literal, TypeAlias

import onnx

from onnxsmith.graphs.rewriting.rewrite import ReadWeight, Rewritten, Rule, Rules, TooDeep, rewrite
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import (
    CPU,
    ByOperator,
    Check,
    CheckAtOnce,
    Fact,
    Refusal,
    Requirement,
    Rewrite,
    facts_of,
)
from onnxsmith.runtime.facts.gating import gate, guard
from onnxsmith.runtime.folded_branches import keep_from_folding
from onnxsmith.types.dtypes import DType

#: Metadata of nodes that stand for one that a fact concerned: which fact.
FACT_KEY = "onnxsmith.fact"
#: The first opset whose Cast the runtime has: there is no check without one.
_OLDEST_CHECKS = 6
#: Where conditions are checked under which an operator is right.
Checks: TypeAlias = Literal["in the graph", "before", "nowhere"]


class Refused(Exception):
    """The runtime cannot run the model; the text says why, `node` where."""

    def __init__(self, operator: str, node: str, reason: str) -> None:
        super().__init__(f"{operator}: {reason}" if operator else reason)
        self.node = node


def adapt(
    model: onnx.ModelProto,
    version: tuple[int, ...],
    weights: ReadWeight | None = None,
    provider: str = CPU,
    *,
    checks: Checks = "in the graph",
    is_kept: bool = False,
    believes_shapes: bool = False,
) -> Rewritten:
    """The model with every fact met that a version of ONNX Runtime shows; raises Refused where one cannot be met.

    `checks` says what is made of facts that are met by failing in words: "before" leaves those out that are checked on
    arrays before each run (`checks_at_once` has them), "nowhere" all of them.

    `is_kept` says that the result is for a file: what is emitted is marked, and what was marked before is left alone.
    Where a model runs, marks count for nothing: anybody can write one, and what they leave out may end the process.
    `believes_shapes` is for models of our own making: what they say of shapes inside is right.
    """
    rules = rules_for(version, provider, checks=checks, is_kept=is_kept)
    try:
        met = rewrite(
            model, rules, weights, mark=FACT_KEY if is_kept else None, believes_shapes=believes_shapes
        )
    except TooDeep as error:
        raise Refused("", "", str(error)) from None
    # Last: the checks are branches, too.
    kept = keep_from_folding(met.model)
    return Rewritten(kept.model, met.edits + kept.edits)


def guarded(model: onnx.ModelProto, version: tuple[int, ...], operators: Set[str]) -> onnx.ModelProto:
    """The model with the checks of standard operators put before the nodes, whose definitions are to take their places.

    A definition takes much that its operator does not, and nothing in it tells what it was.
    """
    rules: dict[tuple[str, str], Rule] = {}
    for operator in operators:
        checks = [each for each in facts_of(("", operator), version) if isinstance(each.remedy, Check)]
        if checks:
            rules["", operator] = _guard(checks)
    return rewrite(model, rules).model if rules else model


def _guard(facts: Sequence[Fact]) -> Rule:
    def apply(site: Site) -> list[tuple[str, str]]:
        met, requirements = _unmet(site, facts)
        if site.emit.version < _OLDEST_CHECKS or not requirements or not guard(site, requirements):
            return []
        return met

    return apply


def _unmet(site: Site, facts: Sequence[Fact]) -> tuple[list[tuple[str, str]], list[Requirement]]:
    """The requirements that are not certain to hold for a node, with the names and reasons of their facts."""
    met: list[tuple[str, str]] = []
    requirements: list[Requirement] = []
    for fact in facts:
        if isinstance(fact.remedy, Check) and fact.concerns(site):
            found = [each for each in fact.remedy.function(site) if each.holds is not True]
            if found:
                requirements += found
                met.append((fact.name, fact.reason))
    return met, requirements


@functools.cache
def rules_for(
    version: tuple[int, ...], provider: str = CPU, *, checks: Checks = "in the graph", is_kept: bool = False
) -> Rules:
    """How each operator is met that a version of ONNX Runtime shows facts for."""

    def find(operator: tuple[str, str]) -> Rule | None:
        facts = facts_of(operator, version, provider)
        met = [each for each in facts if not _is_left_out(each, checks)]
        return rule_of(met, is_kept=is_kept) if met else None

    return ByOperator(find)


def _is_left_out(fact: Fact, checks: Checks) -> bool:
    if not isinstance(fact.remedy, Check) or checks == "in the graph":
        return False
    return checks == "nowhere" or fact.remedy.at_once is not None


def checks_at_once(facts: Sequence[Fact], dtype: DType | None) -> list[CheckAtOnce]:
    """The checks of an operator that cost less on arrays than in a graph; `dtype` is that of the first input."""
    remedies = [each.remedy for each in facts if isinstance(each.remedy, Check) and each.takes(dtype)]
    return [each.at_once for each in remedies if each.at_once is not None]


def rule_of(facts: Sequence[Fact], *, is_kept: bool) -> Rule:
    """The rule that meets these facts at a node."""

    def apply(site: Site) -> list[tuple[str, str]]:
        for fact in facts:
            if isinstance(fact.remedy, Refusal) and fact.concerns(site):
                reason = fact.remedy.function(site)
                if reason is not None:
                    raise Refused(site.node.op_type, site.node.name, reason)
        met, requirements = _unmet(site, facts)
        before = list(site.emit.nodes)
        site.emit.nodes.clear()
        for fact in facts:
            # One rewrite of a node is all: what is emitted in its place was written to be right.
            if isinstance(fact.remedy, Rewrite) and fact.concerns(site) and fact.remedy.function(site):
                met.append((fact.name, fact.reason))
                break
        nodes = list(site.emit.nodes) or [site.node]
        site.emit.nodes[:] = before
        if requirements and site.emit.version < _OLDEST_CHECKS:
            raise Refused(site.node.op_type, site.node.name, requirements[0].reason)
        if not requirements:
            site.emit.nodes.extend(nodes)
        elif not gate(site, nodes, requirements, is_kept=is_kept):
            return []
        return met

    return apply
