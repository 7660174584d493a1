"""Trees without an end are refused before the reference evaluator walks them; trees of converters are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxsmith import Model
from onnxsmith.errors import NotRunnableError
from onnxsmith.runtime.reference import has_endless_tree

_LEAVES = {
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def regressor(true: list[int], false: list[int]) -> Any:
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=true,
        nodes_falsenodeids=false,
        **_LEAVES,
    )


def newer(true: list[int], leaf: int) -> Any:
    return helper.make_node(
        "TreeEnsemble",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[0, 0],
        nodes_modes=numpy_helper.from_array(np.zeros(2, np.uint8)),
        nodes_splits=numpy_helper.from_array(np.float32([0.5, 0.7])),
        nodes_truenodeids=true,
        nodes_falsenodeids=[0, 1],
        nodes_trueleafs=[0, leaf],
        nodes_falseleafs=[1, 1],
        leaf_targetids=[0, 0],
        leaf_weights=numpy_helper.from_array(np.float32([1, 2])),
    )


@pytest.mark.parametrize(
    ("node", "is_endless"),
    [
        (regressor([1, 0, 0], [2, 0, 0]), False),
        (regressor([0, 0, 0], [0, 0, 0]), True),
        (regressor([1, 0, 0], [0, 0, 0]), True),
        (newer([1, 0], leaf=1), False),
        (newer([1, 0], leaf=0), True),
        (newer([1, 1], leaf=0), True),
        (helper.make_node("Relu", ["x"], ["y"]), False),
    ],
)
def test_trees_that_have_no_end(node: Any, is_endless: bool) -> None:
    assert has_endless_tree(node) == is_endless


def test_a_model_with_one_is_refused() -> None:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1]) for name in "xy"]
    graph = helper.make_graph([regressor([0, 0, 0], [0, 0, 0])], "g", ports[:1], ports[1:])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    model = Model.from_proto(helper.make_model(graph, opset_imports=imports, ir_version=9))
    with pytest.raises(NotRunnableError) as caught:
        model(np.float32([[0.2]]))
    assert "a tree leads back to a node above" in str(caught.value)
