"""Attributes that are types and graphs, in each form in which a user may give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
import pytest

from onnxsmith import FLOAT, opset21, trace

TENSOR = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2, "N"])


@pytest.mark.parametrize(
    ("ours", "proto"),
    [
        (FLOAT[2, "N"], TENSOR),
        (Sequence[FLOAT[2, "N"]], onnx.helper.make_sequence_type_proto(TENSOR)),
    ],
    ids=["tensor", "sequence"],
)
def test_a_type_of_ours_and_a_proto_are_the_same_attribute(ours: Any, proto: onnx.TypeProto) -> None:
    written = [
        trace(lambda x, kind=kind: opset21.OptionalHasElement(opset21.Optional(type=kind)), FLOAT[2]).proto
        for kind in (ours, proto)
    ]
    attributes = [model.graph.node[0].attribute[0] for model in written]
    assert attributes[0].tp == attributes[1].tp == proto


def test_a_graph_proto_is_a_branch_as_it_is() -> None:
    one = onnx.helper.make_tensor("one", onnx.TensorProto.FLOAT, [1], [1.0])
    node = onnx.helper.make_node("Constant", [], ["y"], value=one)
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    branch = onnx.helper.make_graph([node], "branch", [], [output])
    model = trace(lambda x: opset21.If(x.sum() > 0.0, then_branch=branch, else_branch=branch), FLOAT[2])
    (made,) = (node for node in model.proto.graph.node if node.op_type == "If")
    assert [each.g.node[0].op_type for each in made.attribute] == ["Constant", "Constant"]
