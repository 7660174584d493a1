"""The gradient of every operator that ONNX calls differentiable, on ONNX's own node cases, is that of differences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnxsmith.grad.table import RULES
from tests.grad.node_gradients import (
    KNOWN,
    cases_of,
    differentiable_operators,
    differentiated_operators,
    family_of,
    read,
    wrong_gradients,
)

#: Cases are dealt out to this many tests.
SHARDS = 4
#: The modules whose cases stand in a test file of their own.
ELSEWHERE = {
    each.stem.removeprefix("test_")
    for each in Path(__file__).parent.glob("rules/test_*.py")
    if "wrong_of_family(" in each.read_text()
}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_gradients_of_node_cases_are_those_of_differences(shard: int) -> None:
    cases = [each for each in cases_of(differentiated_operators()) if family_of(each) not in ELSEWHERE]
    assert wrong_gradients(cases[shard::SHARDS]) == []


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
