"""Records of a model: addresses as everywhere, texts that are cut, constants in what takes them."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, Model, script
from onnxsmith import opset21 as op
from onnxsmith.view.content import describe
from tests.view.hostile_models import hostile_model
from tests.view.large_models import transformer


@script
def halved(x: FLOAT["N"]):
    return x / 2.0


@script
def program(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    total = x
    for _ in range(n):
        if op.ReduceSum(total, keepdims=0) > 10.0:
            total = halved(total)
        else:
            total = total + np.float32(1.0)
    return total


@pytest.mark.parametrize(
    "model",
    [program.to_model(), Model.from_proto(transformer(50, has_scopes=True))],
    ids=["control flow", "chain"],
)
def test_addresses_are_those_of_the_nodes_of_the_model(model: Model) -> None:
    description, _ = describe(model.ir)
    assert set(description.by_address) == {node.address for node in model.nodes}


def test_a_constant_stands_in_what_takes_it() -> None:
    description, boxes = describe(program.to_model().ir)
    folded = [k for k, node in enumerate(description.nodes) if node.is_folded]
    assert all(boxes.box_of[k] == -1 for k in folded)
    for k in folded:
        (value,) = description.nodes[k].outputs
        assert description.values[value].constant == description.nodes[k].address
        assert description.is_weight(value)


def test_no_text_is_longer_than_a_page_can_hold() -> None:
    description, _ = describe(Model.from_proto(hostile_model()).ir)
    texts = [value.name for value in description.values] + [node.name for node in description.nodes]
    texts += [text for node in description.nodes for pair in node.metadata for text in pair]
    texts += [text for node in description.nodes for pair in node.attributes for text in pair]
    assert max(map(len, texts)) < 3000
    assert any("more characters" in text for text in texts)


def test_every_node_has_its_number() -> None:
    model = program.to_model().ir
    description, _ = describe(model)
    assert sorted(description.numbers.values()) == list(range(len(description.nodes)))
    for node, number in description.numbers.items():
        assert description.nodes[number].origin is node
