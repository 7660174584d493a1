"""ONNX's backend cases in other opsets give their data, or are on the page of what has no form there.

A fixed part of them; `python -m tests.passes.versions` takes all.
"""

from __future__ import annotations

import re

import pytest

from onnxsmith import Model
from onnxsmith.errors import VersionConversionError
from tests.passes.versions.backend_cases import backend_cases, check_form, newest, outcome
from tests.passes.versions.page import OLDER, refused_cases

SHARDS = 4
#: One case of so many is taken.
PART = 6


@pytest.mark.parametrize("target", [OLDER, newest()])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_converted_cases_give_their_data(shard: int, target: int) -> None:
    listed = refused_cases()
    wrong: list[str] = []
    for name in list(backend_cases())[PART * shard :: PART * SHARDS]:
        found = outcome(backend_cases()[name], target)
        is_listed = target == OLDER and name in listed
        if found.kind == "wrong" or (found.kind == "refused") != is_listed:
            wrong.append(f"{name}: {found.kind} {found.text}")
    assert not wrong, "\n".join(wrong)


def test_a_refusal_names_the_oldest_opset_that_will_do() -> None:
    for name in sorted(refused_cases())[::12]:
        model = Model.from_proto(backend_cases()[name].model)
        with pytest.raises(VersionConversionError) as refused:
            model.convert_version(OLDER)
        found = re.search(r"convert to opset (\d+), the oldest that can say", refused.value.help or "")
        assert found is not None, f"{name}: {refused.value}"
        oldest = int(found[1])
        check_form(backend_cases()[name], model.convert_version(oldest).proto, oldest)
        with pytest.raises(VersionConversionError):
            model.convert_version(oldest - 1)
        assert refused.value.node is not None
        operators = {node.op_type for node in model.ir.graph.all_nodes()}
        assert refused.value.node[0] in operators, f"{name}: the model has no such node"


def test_score() -> None:
    """Prints the score; run with -s to see it. It may only rise."""
    total, refused = len(backend_cases()), len(refused_cases())
    print(f"\nbackend cases in opset {OLDER}: {total - refused} of {total}, {refused} listed with a reason")
    assert total >= 2024
    assert refused <= 328
