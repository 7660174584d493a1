"""Findings as a table: one row for each operator and kind of finding, with its smallest case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tests.backend.node_cases import attribute_value
from tests.laws.case import Case
from tests.laws.judge import Finding
from tests.laws.outcome import shown

#: What is worst comes first.
ORDER = (
    "died",
    "hang",
    "overwritten",
    "values differ",
    "only eager works",
    "only eager fails",
    "raw error",
    "data differs",
    "error differs",
    "error differs in a foreign model",
)


def described(case: Case) -> str:
    """A case in a line: operator, opset, attributes, inputs."""
    graph = case.graph
    if len(graph.node) != 1:
        return f"{len(graph.node)} nodes of {case.name}"
    node = graph.node[0]
    attributes = ", ".join(f"{each.name}={_attribute(attribute_value(each))}" for each in node.attribute)
    by_name = dict(zip([info.name for info in graph.input], case.inputs, strict=True))
    inputs = "; ".join(shown(by_name[name]) if name in by_name else "-" for name in node.input)
    return f"{node.op_type}-{case.version(node.domain)}({attributes}) on {inputs or 'nothing'}"


def _attribute(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return shown(value)
    text = repr(value)
    return text if len(text) < 100 and "\n" not in text else type(value).__name__


def _size(case: Case) -> int:
    return sum(each.nbytes if isinstance(each, np.ndarray) else 100 for each in case.inputs) + len(
        case.graph_bytes
    )


def _group(finding: Finding) -> tuple[int, str]:
    """What findings of one row have in common: the operator, or, of errors, their classes."""
    place = ORDER.index(finding.kind)
    if finding.kind.startswith("error differs"):
        names = (finding.outcomes[road].name for road in ("eager", finding.roads[0]))
        return place, " → ".join(names)
    return place, finding.case.operator


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings with one cause, as far as one can tell, the smallest first; the worst kinds first."""
    groups: dict[tuple[int, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault(_group(each), []).append(each)
    return [sorted(groups[key], key=lambda each: _size(each.case)) for key in sorted(groups)]


def table(findings: Sequence[Finding]) -> str:
    """The findings in Markdown."""
    counts = Counter(each.kind for each in findings)
    lines = [", ".join(f"{counts[kind]} {kind}" for kind in ORDER if counts[kind]) or "nothing found", ""]
    lines += ["| kind | operator | cases | roads | smallest case | what happens |", "| --- " * 6 + "|"]
    for group in grouped(findings):
        least = group[0]
        roads = Counter(road for each in group for road in each.roads)
        cells = (
            least.kind,
            ", ".join(sorted({each.case.operator for each in group})),
            str(len(group)),
            ", ".join(
                f"{road}" if count == len(group) else f"{road} ({count})" for road, count in roads.items()
            ),
            f"`{least.case.name}`: {described(least.case)}",
            least.detail,
        )
        lines.append("| " + " | ".join(each.replace("|", "\\|").replace("\n", " ") for each in cells) + " |")
    return "\n".join(lines) + "\n"
