"""The names of nodes by rule: exporters derive them from what a node makes, so a rule says most of them.

Used in both directions: to find the rule that a model follows, and to name the nodes of a model that is rebuilt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

_OUTPUT = "_output_0"

#: Rule -> the name of a node whose first output has this name, made by this operator; None where it says nothing.
_RULES: dict[str, Callable[[str, str], str | None]] = {
    "": lambda output, operator: "",
    "{output}": lambda output, operator: output or None,
    "node_{output}": lambda output, operator: f"node_{output}" if output else None,
    "{output}_node": lambda output, operator: f"{output}_node" if output else None,
    "{stem}": lambda output, operator: output.removesuffix(_OUTPUT) if output.endswith(_OUTPUT) else None,
    "{operator}_{output}": lambda output, operator: f"{operator}_{output}" if output else None,
}
RULES = tuple(_RULES)


def name_by_rule(rule: str, output: str, operator: str) -> str:
    """The name that a rule gives a node; no name where it has nothing to go by."""
    return _RULES[rule](output, operator) or ""


def best_rule(nodes: Iterable[tuple[str, str, str]]) -> str:
    """The rule that most nodes keep, each given as its name, the name of its first output, and its operator."""
    kept: Counter[str] = Counter()
    for name, output, operator in nodes:
        for rule in RULES:
            if name_by_rule(rule, output, operator) == name:
                kept[rule] += 1
    return max(RULES, key=lambda rule: kept[rule])
