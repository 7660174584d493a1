"""The gradient of every operator that ONNX calls differentiable, on ONNX's own node cases, is that of differences."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from onnxsmith.grad.table import RULES
from tests.backend.node_cases import all_cases
from tests.grad.node_gradients import differentiable_operators, failure, read

#: Cases are dealt out to this many tests.
SHARDS = 8
#: Operators without a gradient, and cases whose differences say nothing, each with its reason.
KNOWN: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("known_gradients.toml").read_text())
#: Operators beyond those whose definitions say that they are differentiable.
BEYOND = (
    "Attention",
    "LayerNormalization",
    "RMSNormalization",
    "RotaryEmbedding",
    "RoiAlign",
    "DeformConv",
    "DFT",
    "STFT",
    "If",
    "Loop",
    "Scan",
    "SequenceMap",
)


def cases_of(names: set[str]) -> list[Any]:
    found: list[Any] = []
    for case in all_cases().values():
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain and nodes[0].op_type in names:
            found.append(case)
    return found


def differentiated_operators() -> set[str]:
    return {*differentiable_operators(), *BEYOND} - KNOWN["operators"].keys()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_gradients_of_node_cases_are_those_of_differences(shard: int) -> None:
    wrong: list[str] = []
    for case in cases_of(differentiated_operators())[shard::SHARDS]:
        if case.name in KNOWN["cases"]:
            continue
        try:
            found = failure(case)
        except Exception as error:  # one case must not hide the others
            found = f"{type(error).__name__}: {error}"
        if found is not None:
            wrong.append(f"{case.name}: {found}")
    assert not wrong, "\n".join(wrong)


def test_every_operator_has_a_rule_or_a_definition_or_is_named() -> None:
    """At most six may be refused, and each by a name and a reason."""
    seen = {each.model.graph.node[0].op_type for each in cases_of(set(differentiable_operators()))}
    ruled = {name for domain, name in RULES if not domain}
    assert set(differentiable_operators()) <= seen | ruled | KNOWN["operators"].keys()
    assert len(KNOWN["operators"]) <= 6
    assert not ruled & KNOWN["operators"].keys()


def test_every_operator_is_differentiated_by_a_case_or_by_another_test() -> None:
    """A case with nothing to differentiate passes, and says nothing: of whole numbers, or without inputs."""
    cases = [each for each in cases_of(differentiated_operators()) if each.name not in KNOWN["cases"]]
    checked = {case.model.graph.node[0].op_type for case in cases if read(case) is not None}
    assert differentiated_operators() - checked == KNOWN["elsewhere"].keys()
    for name, file in KNOWN["elsewhere"].items():
        text = (Path(__file__).parent / file).read_text()
        assert re.search(rf"\b{name}\b", text), f"{file} has no test of {name}"
