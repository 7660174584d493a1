"""Functions that each call the next one twice: a small file, and nothing that follows every call comes to an end."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxsmith import Model
from onnxsmith.errors import NotDifferentiableError, NotRunnableError
from onnxsmith.graphs.rewriting.unfolding import is_past_measure, nodes_without_functions

_IMPORTS = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]


def doubling(levels: int) -> onnx.ModelProto:
    """A model that adds a number to itself, through functions, 2 ** (levels - 1) times."""
    functions = [
        helper.make_function("d", "f0", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])], _IMPORTS)
    ]
    for k in range(1, levels):
        body = [
            helper.make_node(f"f{k - 1}", ["x"], ["a"], domain="d"),
            helper.make_node(f"f{k - 1}", ["a"], ["y"], domain="d"),
        ]
        functions.append(helper.make_function("d", f"f{k}", ["x"], ["y"], body, _IMPORTS))
    graph = helper.make_graph(
        [helper.make_node(f"f{levels - 1}", ["x"], ["y"], domain="d")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    return helper.make_model(graph, opset_imports=_IMPORTS, functions=functions, ir_version=10)


def test_counts() -> None:
    # A call, and what is called: f0 has one node, f1 two calls and two nodes, and so on.
    assert nodes_without_functions(doubling(1), 100) == 2
    assert nodes_without_functions(doubling(2), 100) == 5
    assert nodes_without_functions(doubling(40), 10**6) is None
    assert nodes_without_functions(Model.from_proto(doubling(2)).ir, 100) == 5
    assert is_past_measure(Model.from_proto(doubling(40)).ir)


def test_few_levels_run() -> None:
    proto = doubling(5)
    assert not is_past_measure(proto)
    model = Model.from_proto(proto)
    model.check()
    np.testing.assert_array_equal(model(np.ones(2, np.float32)), np.full(2, 2.0**16, np.float32))


def test_forty_levels_are_checked_and_refused() -> None:
    model = Model.from_proto(doubling(40))
    model.check()
    with pytest.raises(NotRunnableError, match="call others so often"):
        model.for_runtime()
    with pytest.raises(NotRunnableError) as caught:
        model(np.ones(2, np.float32))
    assert "call others so often" in str(caught.value)


def test_forty_levels_have_no_profile() -> None:
    with pytest.raises(NotRunnableError) as caught:
        Model.from_proto(doubling(40)).profile([np.ones(2, np.float32)], runs=1, warm_up=0)
    assert "call others so often" in str(caught.value)


def test_forty_levels_have_no_gradient() -> None:
    proto = doubling(40)
    proto.graph.node[0].output[0] = "sums"
    proto.graph.node.append(helper.make_node("ReduceSum", ["sums"], ["y"], keepdims=0))
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    with pytest.raises(NotDifferentiableError, match="call others so often"):
        Model.from_proto(proto).gradient(wrt="x")


def test_a_mistake_is_found_all_the_same() -> None:
    proto = doubling(40)
    proto.graph.node[0].input[0] = "nowhere"
    with pytest.raises(Exception, match="nowhere"):
        Model.from_proto(proto).check()
