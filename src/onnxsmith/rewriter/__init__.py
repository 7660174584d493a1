"""Names for code that comes from onnxscript: rules of functions that take `op`, and `rewrite` for them.

New code says `onnxsmith.Rule` and `onnxsmith.rewrite`, which is what these become.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import onnx
import onnx_ir as ir

from onnxsmith.errors import RuleError, boundary
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.passes.rules import rewrite as rewrite_model
from onnxsmith.rewriter import pattern as pattern
from onnxsmith.rewriter.pattern import MatchResult as MatchResult
from onnxsmith.rewriter.pattern import RewriteRule as RewriteRule
from onnxsmith.rewriter.pattern import RewriteRuleClassBase as RewriteRuleClassBase
from onnxsmith.rewriter.pattern import RewriteRuleSet as RewriteRuleSet

#: A proto, a model of onnx-ir, or a `Model`, which checkers know by its stub; a `Model` comes of a file.
AnyModel = TypeVar("AnyModel")


@boundary
def rewrite(
    model: AnyModel, pattern_rewrite_rules: Sequence[RewriteRule] | RewriteRuleSet | None = None
) -> AnyModel:
    """A model with rules applied, until none matches: a new one of the same kind (proto, onnx-ir, `Model`).

    >>> from onnxsmith import FLOAT, opset21, trace
    >>> from onnxsmith.rewriter import RewriteRule, rewrite
    >>> rule = RewriteRule(lambda op, x: op.Neg(op.Neg(x)), lambda op, x: op.Identity(x), name="two signs")
    >>> proto = trace(lambda x: opset21.Neg(opset21.Neg(x)), FLOAT["N"]).proto
    >>> [node.op_type for node in rewrite(proto, pattern_rewrite_rules=[rule]).graph.node]
    ['Identity']
    """
    if pattern_rewrite_rules is None:
        raise RuleError(
            "rewrite without rules applies onnxscript's own, which are not here",
            help="onnxsmith.optimize(model) applies those of onnxsmith",
        )
    given = model_of(cast("ModelLike", model), "rewrite")
    rules = pattern_rewrite_rules
    if not isinstance(rules, RewriteRuleSet):
        if not rules:
            return model
        rules = RewriteRuleSet(rules)
    problems: list[Exception] = []
    made = [
        rule
        for each in rules
        for rule in each.rules(given.opset_imports, commute=rules.commute, problems=problems)
    ]
    result = rewrite_model(given, made)
    if problems:
        raise problems[0]
    if isinstance(model, onnx.ModelProto):
        return cast("AnyModel", result.proto)
    return cast("AnyModel", result.ir if isinstance(model, ir.Model) else result)


__all__ = ["MatchResult", "RewriteRule", "RewriteRuleClassBase", "RewriteRuleSet", "pattern", "rewrite"]


def __dir__() -> list[str]:
    return list(__all__)
