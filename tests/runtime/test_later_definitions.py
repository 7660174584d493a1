"""Old operators are told in later definitions where those mean the same, alone and among others."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxsmith import Model
from onnxsmith.runtime import using
from onnxsmith.runtime.later_definitions import in_later_definitions

X = np.float32([[-1.5, 0.5], [2.0, 3.0]])


def model_of(version: int, *nodes: onnx.NodeProto) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy")
    graph = helper.make_graph(nodes, "old", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=3)


def given(node: onnx.NodeProto) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


@pytest.mark.parametrize(
    ("name", "version", "attributes", "expected"),
    [
        ("Cast", 1, {"to": "INT64"}, (6, {"to": 7})),
        ("Cast", 1, {"to": "NONSENSE"}, None),
        ("Clip", 1, {"min": 0.0, "consumed_inputs": [0]}, (6, {"min": 0.0})),
        ("Dropout", 6, {"is_test": 1}, (7, {})),
        ("Dropout", 6, {}, None),
        ("Gemm", 6, {"broadcast": 1}, (7, {})),
        ("Gemm", 6, {}, None),
        ("GlobalLpPool", 1, {"p": 3.0}, (2, {"p": 3})),
        ("GlobalLpPool", 1, {"p": 2.5}, None),
        ("Relu", 14, {}, None),
    ],
)
def test_of_one_node(
    name: str, version: int, attributes: dict[str, Any], expected: tuple[int, dict[str, Any]] | None
) -> None:
    told = in_later_definitions(model_of(version, helper.make_node(name, ["x"], ["y"], **attributes)))
    found = None if told is None else (told.opset_import[0].version, given(told.graph.node[0]))
    assert found == expected


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_among_others(runtime: Any) -> None:
    clip = helper.make_node("Clip", ["x"], ["c"], min=0.0, consumed_inputs=[0])
    model = model_of(5, clip, helper.make_node("Transpose", ["c"], ["y"]))
    told = in_later_definitions(model)
    assert told is not None
    assert told.opset_import[0].version == 6
    with using(runtime=runtime):
        assert Model.from_proto(model)(X).tolist() == np.maximum(X, 0).T.tolist()


def test_not_where_another_operator_would_change_its_meaning() -> None:
    clip = helper.make_node("Clip", ["x"], ["c"], min=0.0)
    add = helper.make_node("Add", ["c", "x"], ["d"], broadcast=1)  # which broadcasts otherwise since 7
    drop = helper.make_node("Dropout", ["d"], ["y"], is_test=1)
    assert in_later_definitions(model_of(1, clip, add, drop)) is None
