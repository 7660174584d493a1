"""Boxes: modules by names and metadata, functions, bodies; lines that join items of one box."""

from __future__ import annotations

import pytest

from onnxsmith import FLOAT, Model, script
from onnxsmith import opset21 as op
from onnxsmith.graphs.node_counts import node_count
from onnxsmith.view.boxes import Boxes, Item
from onnxsmith.view.content import describe
from tests.view.large_models import transformer


def tree(boxes: Boxes, number: int = 0) -> dict[str, object]:
    inner = [each.number for each in boxes.boxes[number].items if each.kind == "box"]
    return {boxes.boxes[each].label: tree(boxes, each) for each in inner}


def test_modules_are_boxes_by_the_names_of_nodes() -> None:
    _, boxes = describe(Model.from_proto(transformer(60, has_scopes=True)).ir)
    found = tree(boxes)
    assert list(found) == ["layers.0", "layers.1", "head"]
    linear: dict[str, object] = {each: {} for each in ("q", "k", "v", "out")}
    assert found["layers.0"] == {"attn": linear, "mlp": {"up": {}, "down": {}}}


def test_names_without_modules_give_no_boxes() -> None:
    _, boxes = describe(Model.from_proto(transformer(60, has_scopes=False)).ir)
    assert tree(boxes) == {}


@pytest.mark.parametrize("count", [60, 400])
def test_every_node_stands_in_one_box_and_lines_join_items_of_it(count: int) -> None:
    description, boxes = describe(Model.from_proto(transformer(count, has_scopes=True)).ir)
    held = [each.number for box in boxes.boxes for each in box.items if each.kind == "node"]
    assert sorted(held) == list(range(count))
    for box in boxes.boxes:
        assert box.arrangement is not None
        total = sum(map(len, box.arrangement.layers))
        assert len(box.items) == len(set(box.items))
        assert all(0 <= a < total and 0 <= b < total for _, a, b in box.arrangement.segments)
    # What a node takes comes to it inside its own box: from a node, a box, or a port.
    for number, node in enumerate(description.nodes):
        box = boxes.boxes[boxes.box_of[number]]
        assert box.arrangement is not None
        place = box.items.index(Item("node", number))
        arriving = {value for value, _, b in box.arrangement.segments if b == place}
        assert arriving == {value for value in node.inputs if not description.is_weight(value)}


@script
def halved(x: FLOAT["N"]):
    return x / 2.0


@script
def branching(x: FLOAT["N"], y: FLOAT["N"]):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        z = halved(x) + y
    else:
        z = y
    return z


def test_functions_and_bodies_are_boxes_with_ports() -> None:
    description, boxes = describe(branching.to_model().ir)
    kinds = {graph.kind for graph in description.graphs}
    assert kinds == {"main", "body", "function"}
    (chosen,) = [each for each in description.nodes if each.bodies]
    assert [body.attribute for body in chosen.bodies] == ["then_branch", "else_branch"]
    then = boxes.boxes[chosen.bodies[0].graph]
    captured = {description.values[each.number].name for each in then.items if each.kind == "input"}
    assert captured == {"x", "y"}
    addresses = {node.address for node in description.nodes}
    position = chosen.address
    assert any(each.startswith(f"{position}.then_branch.") for each in addresses)
    assert any("::halved/" in each for each in addresses)


def test_boxes_count_nodes_as_everything_else_does() -> None:
    """A constant that stands in the node that takes it is a node of the model all the same."""

    @script
    def scaled(x: FLOAT["N"]):
        return op.Mul(x, op.Constant(value_float=2.0))

    @script
    def program(x: FLOAT["N"]):
        return op.Add(scaled(x), op.Constant(value_float=1.0))

    model = program.to_model()
    description, boxes = describe(model.ir)
    assert any(each.is_folded for each in description.nodes)
    counts = [box.node_count for box in boxes.boxes if box.parent < 0]
    assert counts == [len(each.nodes) for each in description.graphs]
    assert sum(counts) == node_count(model.ir) == len(model.nodes)
