"""ONNX's backend cases in other opsets give their data, or are on the page of what has no form there.

One of each kind; `python -m tests.passes.versions` takes all.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import VersionConversionError
from onnxsmith.passes.versions.down.lazy_index import OUT_OF
from onnxsmith.passes.versions.up.lazy_index import INTO
from tests.passes.versions.backend_cases import backend_cases, check_form, newest, opset_of, outcome
from tests.passes.versions.page import OLDER, refused_cases

SHARDS = 4
#: The operators that a rule rewrites: their attributes make a kind. Of others, the operator does.
REWRITTEN = {str(key[1]) for key in (*INTO, *OUT_OF)}


def kind_of(model: onnx.ModelProto) -> Hashable:
    """The opset of a case, and its operators with the attributes that a conversion may rewrite."""
    nodes = {
        (each.op_type, *(sorted(a.name for a in each.attribute) if each.op_type in REWRITTEN else ()))
        for each in model.graph.node
    }
    return opset_of(model), frozenset(nodes)


def chosen() -> list[str]:
    """The first case of each kind."""
    kinds: dict[Hashable, str] = {}
    for name, case in backend_cases().items():
        kinds.setdefault(kind_of(case.model), name)
    return sorted(kinds.values())


@pytest.mark.parametrize("target", [OLDER, newest()])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_converted_cases_give_their_data(shard: int, target: int) -> None:
    listed = refused_cases()
    wrong: list[str] = []
    for name in chosen()[shard::SHARDS]:
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
