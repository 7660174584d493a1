"""`gradient` on models: names, weights, opsets, functions, what stays and what is told."""

from __future__ import annotations

import warnings

import numpy as np
import onnx.parser
import pytest

from onnxsmith import FLOAT, INT64, Model, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelWarning, NotDifferentiableError, UnknownNameError, UnreachedError
from onnxsmith.grad import gradient
from onnxsmith.grad.target import GRADIENT_OF

W = np.float32([[1.0, -2.0], [3.0, 0.5]])
X = np.float32([[1.0, 2.0], [-1.0, 0.0], [0.5, 4.0]])


def network() -> Model:
    weight, bias = W.copy(), np.float32([0.1, 0.2])
    return trace(lambda x: op.ReduceSum(op.Tanh(x @ weight + bias), keepdims=0), FLOAT["N", 2])


def test_weights_by_pattern(tmp_path) -> None:
    model = gradient(network(), wrt="*")
    assert [each.name for each in model.outputs] == ["reduce_sum", "x_grad", "weight_grad", "bias_grad"]
    model.check()
    model.save(tmp_path / "model.onnx")
    slope = 1 - np.tanh(X @ W + [0.1, 0.2]) ** 2
    for made in (model, load(tmp_path / "model.onnx")):
        _, by_x, by_weight, by_bias = made(X)
        np.testing.assert_allclose(by_x, slope @ W.T, rtol=1e-4)
        np.testing.assert_allclose(by_weight, X.T @ slope, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(by_bias, slope.sum(0), rtol=1e-4)


def test_weights_are_shared_and_keep_their_names() -> None:
    given = network()
    made = given.gradient(wrt=["weight"])
    tensors = [model.ir.graph.initializers["weight"].const_value for model in (given, made)]
    assert tensors[0] is tensors[1]


def test_the_given_model_stays_what_it_is() -> None:
    given = network()
    before = given.text()
    given.gradient(wrt=["x"])
    assert given.text() == before


def test_the_loss_may_be_any_value() -> None:
    model = trace(lambda x: (op.ReduceSum(x * x, keepdims=0), op.ReduceMax(x, keepdims=0)), FLOAT["N"])
    made = model.gradient(of="reduce_max", wrt="x")
    np.testing.assert_array_equal(made(np.float32([1, 3, 2]))[-1], [0, 1, 0])


def test_names_of_values_and_nodes_stay() -> None:
    given = network()
    names = {value.name for node in given.ir.graph for value in node.outputs}
    made = given.gradient(wrt=["x"])
    assert names <= {value.name for node in made.ir.graph for value in node.outputs}


def test_nodes_of_the_gradient_name_theirs_and_its_line() -> None:
    made = network().gradient(wrt=["x"])
    notes = [node.metadata_props for node in made.ir.graph if GRADIENT_OF in node.metadata_props]
    assert {each[GRADIENT_OF] for each in notes} >= {"tanh", "mat_mul"}
    assert all("test_models.py" in each["onnxsmith.source"] for each in notes if each[GRADIENT_OF] == "tanh")


def test_an_old_opset_is_converted() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 7, opset_import: ["": 11]>
        g (float[N, 3] x) => (float loss) {
          y = Unsqueeze<axes = [0]> (x)
          z = Mul (y, y)
          loss = ReduceSum<axes = [0, 1, 2], keepdims = 0> (z)
        }"""
    )
    made = Model.from_proto(proto).gradient(wrt=["x"])
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(made(x)[1], 2 * x)


def test_functions_are_differentiated_through_their_bodies() -> None:
    @script
    def cube(x, power: float):
        return op.Mul(op.Mul(x, x), x) * power

    model = trace(lambda x: op.ReduceSum(cube(cube(x, 2.0), 1.0), keepdims=0), FLOAT["N"])
    x = np.float32([1.0, -2.0])
    np.testing.assert_allclose(model.gradient(wrt=["x"])(x)[1], 72 * x**8)


def test_an_optional_input_stays_one() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 18]>
        g (float[2] x, float[2] w) => (float loss) <float[2] w = {3.0, 4.0}> {
          y = Mul (x, w)
          loss = ReduceSum<keepdims = 0> (y)
        }"""
    )
    made = Model.from_proto(proto).gradient(wrt=["x", "w"])
    x = np.float32([1, 2])
    np.testing.assert_array_equal(made(x)[1], [3, 4])
    np.testing.assert_array_equal(made(x, w=np.float32([5, 6]))[1], [5, 6])


def test_what_a_pattern_names_and_the_loss_does_not_reach_is_told() -> None:
    model = trace(lambda x, y: (op.ReduceSum(x * x, keepdims=0), y), FLOAT["N"], FLOAT["N"])
    with pytest.warns(ModelWarning, match="does not depend on 'y'"):
        made = model.gradient(of="reduce_sum", wrt="*")
    assert [each.name for each in made.outputs][2:] == ["x_grad"]
    with pytest.raises(UnreachedError, match="'y'"):
        model.gradient(of="reduce_sum", wrt=["x", "y"])


def test_a_gradient_that_is_zero_everywhere_is_no_mistake() -> None:
    model = trace(lambda x: op.ReduceSum(op.Sign(x), keepdims=0), FLOAT["N"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.gradient(wrt=["x"])(np.float32([1, -1]))[1], [0, 0])


def test_whole_numbers_have_no_gradient() -> None:
    model = trace(lambda x, i: op.ReduceSum(op.Gather(x, i), keepdims=0), FLOAT["N"], INT64["M"])
    with pytest.raises(NotDifferentiableError, match="'i' is int64"):
        model.gradient(wrt=["i"])
    model = trace(lambda x: op.ReduceSum(op.Cast(x, to=7), keepdims=0), FLOAT["N"])
    with pytest.raises(NotDifferentiableError, match="the loss 'reduce_sum' is int64"):
        model.gradient(wrt=["x"])


def test_a_loss_that_has_only_whole_numbers_of_a_value_says_where() -> None:
    def rounded(x):
        steps = op.Cast(op.Tanh(x), to=7)
        return op.ReduceSum(op.Cast(steps * 2, to=1), keepdims=0)

    with pytest.raises(NotDifferentiableError) as caught:
        trace(rounded, FLOAT["N"]).gradient(wrt=["x"])
    text = str(caught.value)
    assert "depends on 'x' by whole numbers or truth values only, made by node 'cast' (Cast)" in text
    assert (
        "'reduce_sum' ← node 'reduce_sum' (ReduceSum) ← node 'cast_1' (Cast) ← node 'mul' (Mul) ← node 'cast'"
        in text
    )
    assert "steps = op.Cast(op.Tanh(x), to=7)" in text
    with pytest.warns(ModelWarning, match=r"'x' by whole numbers or truth values only, made by node 'cast'"):
        assert [each.name for each in trace(rounded, FLOAT["N"]).gradient(wrt="*").outputs] == ["reduce_sum"]


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="'weigth'"):
        network().gradient(wrt=["weigth"])
    with pytest.raises(UnknownNameError, match="no value 'loss'"):
        network().gradient(of="loss", wrt=["x"])
