"""Rewrite rules written as Python functions: `Rule`, `rewrite`, `explain_match`.

A pattern is recorded (`recording`) as a graph (`pattern`) and found in a model (`matching`). The result of its
replacement takes its place (`replacing`), with the weights and functions that it needs
(`replacement_imports`). `applying` makes a rule for the worklist of it.
"""

from onnxsmith.passes.rules.explaining import MatchExplanation as MatchExplanation
from onnxsmith.passes.rules.explaining import explain_match as explain_match
from onnxsmith.passes.rules.match import Match as Match
from onnxsmith.passes.rules.match import MatchedTensor as MatchedTensor
from onnxsmith.passes.rules.parameters import Constant as Constant
from onnxsmith.passes.rules.recording import either as either
from onnxsmith.passes.rules.rewriting import rewrite as rewrite
from onnxsmith.passes.rules.rule import Rule as Rule

__all__ = [
    "Constant",
    "Match",
    "MatchExplanation",
    "MatchedTensor",
    "Rule",
    "either",
    "explain_match",
    "rewrite",
]


def __dir__() -> list[str]:
    return list(__all__)
