"""Models that are copied, pickled and sent to other processes, whole."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxsmith import FLOAT, Model, load, trace
from onnxsmith import opset21 as op

X = np.float32([1, 2, 3])
LARGE = np.linspace(-1, 1, 3000, dtype=np.float32).reshape(3, 1000)


def small() -> Model:
    return trace(lambda x: op.Relu(x) * np.float32([1, 2, 3]), FLOAT["N"])


def large() -> Model:
    return trace(lambda x: op.ReduceSum(x @ LARGE) + x, FLOAT[3])


def of_four_bits() -> Model:
    packed = op.Cast(np.arange(4096, dtype=np.float32) % 8, to=TensorProto.INT4)
    return trace(lambda x: op.ReduceSum(op.Cast(packed, to=FLOAT)) + x, FLOAT["N"])


def of_sparse_weights() -> Model:
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [5.0])
    indices = helper.make_tensor("w_indices", TensorProto.INT64, [1], [2])
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "sparse",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
    )
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    )


def round_trip(model: Model) -> Model:
    return pickle.loads(pickle.dumps(model, protocol=5))


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, round_trip], ids=lambda each: each.__name__)
@pytest.mark.parametrize(
    "make", [small, large, of_four_bits, of_sparse_weights], ids=lambda each: each.__name__
)
def test_a_copy_is_the_same_model(
    make: Callable[[], Model], way: Callable[[Model], Model], is_called: bool
) -> None:
    model = make()
    if is_called:
        model(X)
    other = way(model)
    assert other is not model
    assert other.proto == model.proto
    np.testing.assert_array_equal(other(X), model(X))


def test_a_loaded_model_travels_with_its_external_data(tmp_path: Path) -> None:
    large().save(tmp_path / "m.onnx", external_data=True)
    model = load(tmp_path / "m.onnx")
    written = pickle.dumps(model)
    expected = model(X)
    for each in tmp_path.iterdir():
        each.unlink()
    other = pickle.loads(written)
    assert other.place == tmp_path / "m.onnx"
    np.testing.assert_array_equal(other(X), expected)
    onnx.checker.check_model(other.proto)


def test_weights_are_passed_on_not_copied() -> None:
    weights = np.zeros((3, 1_000_000), np.float32)
    model = trace(lambda x: op.ReduceSum(x @ weights) + x, FLOAT[3])
    buffers: list[pickle.PickleBuffer] = []
    tracemalloc.start()
    written = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    other = pickle.loads(written, buffers=buffers)
    twin = copy.deepcopy(model)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < weights.nbytes // 2
    for each in (other, twin):
        tensors = [value.const_value.numpy() for value in each.ir.graph.initializers.values()]
        assert any(np.shares_memory(tensor, weights) for tensor in tensors)


def test_a_copy_that_is_changed_leaves_the_model_alone() -> None:
    model = small()
    other = copy.deepcopy(model)
    other.ir.graph.name = "another"
    assert model.ir.graph.name != "another"
