"""Gradients of models as they come: element types, sizes of zero, data in files, weights that bodies read."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx.parser
import pytest
import torch

from onnxsmith import FLOAT, INT64, Model, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import NotDifferentiableError, ShapeError
from onnxsmith.grad import grad

_random = np.random.default_rng(0)
X = _random.standard_normal((3, 4)).astype(np.float32)
W = _random.standard_normal((4, 4)).astype(np.float32)


def slopes(function: Any, *arrays: Any) -> list[Any]:
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    return [each.numpy() for each in torch.autograd.grad(function(*tensors), tensors)]


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float16, 2e-3), (np.float64, 1e-14), (ml_dtypes.bfloat16, 3e-2)]
)
def test_element_types(dtype: Any, tolerance: float) -> None:
    x, w = X.astype(dtype), W.astype(dtype)

    def loss(x, w):
        return op.ReduceSum(op.Softmax(op.Tanh(x @ w), axis=1) ** 2.0, keepdims=0)

    wanted = slopes(
        lambda x, w: (torch.softmax(torch.tanh(x @ w), 1) ** 2).sum(),
        x.astype(np.float64),
        w.astype(np.float64),
    )
    for found, each in zip(grad(loss, wrt=(0, 1))(x, w), wanted, strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(np.float64), each, atol=tolerance)


#: What is computed of a matrix of two rows without columns.
OF_NOTHING = {
    "softmax": lambda x: op.Softmax(x, axis=0),
    "sum": lambda x: op.ReduceSum(x, [1]),
    "product": lambda x: op.ReduceProd(x, [1]),
    "norm": lambda x: op.ReduceL2(x, [1]),
    "concat": lambda x: op.Concat(x, x, axis=1),
    "matmul": lambda x: x @ op.Transpose(x),
    "gemm": lambda x: op.Gemm(x, x, transB=1),
    "max": lambda x: op.Max(x, x),
    "gather": lambda x: op.Gather(x, np.zeros(0, np.int64)),
    "pad": lambda x: op.Pad(x, [0, 1, 0, 1]),
    "tile": lambda x: op.Tile(x, [2, 2]),
    "expand": lambda x: op.Expand(x, [3, 2, 0]),
    "reshape": lambda x: op.Reshape(x, [0, 2], allowzero=1),
    "cumulative sum": lambda x: op.CumSum(x, np.array(1)),
    "split": lambda x: op.Split(x, [1, 1], axis=0)[0],
    "slice": lambda x: x[:, ::2],
    "where": lambda x: op.Where(x > 0.0, x, x * 2.0),
    "broadcast": lambda x: x * np.ones((1, 1), np.float32),
}


@pytest.mark.parametrize("name", OF_NOTHING)
def test_sizes_of_zero(name: str) -> None:
    found = grad(lambda x: OF_NOTHING[name](x).sum())(np.zeros((2, 0), np.float32))
    assert found.shape == (2, 0)


def test_what_nothing_is_broadcast_against_has_zeros() -> None:
    by_nothing, by_one = grad(lambda a, b: (a * b).sum(), wrt=(0, 1))(
        np.zeros((0, 3), np.float32), np.ones((1, 3), np.float32)
    )
    assert by_nothing.shape == (0, 3)
    np.testing.assert_array_equal(by_one, np.zeros((1, 3)))


def test_data_in_files(tmp_path) -> None:
    model = trace(lambda x: op.ReduceSum(op.Tanh(x @ W), keepdims=0), FLOAT["N", 4])
    model.save(tmp_path / "model.onnx", external_data=True)
    load(tmp_path / "model.onnx").gradient(wrt=["W"]).save(tmp_path / "gradient.onnx", external_data=True)
    wanted = slopes(lambda w: torch.tanh(torch.tensor(X) @ w).sum(), W)[0]
    np.testing.assert_allclose(load(tmp_path / "gradient.onnx")(X)[1], wanted, rtol=1e-4, atol=1e-5)


def test_a_weight_that_is_read_several_times() -> None:
    model = trace(lambda x: op.ReduceSum(op.Tanh(x @ W) @ W @ op.Mul(W, W), keepdims=0), FLOAT["N", 4])
    wanted = slopes(lambda w: (torch.tanh(torch.tensor(X) @ w) @ w @ (w * w)).sum(), W)[0]
    np.testing.assert_allclose(model.gradient(wrt=["W"])(X)[1], wanted, rtol=1e-4, atol=1e-4)


def test_a_weight_that_only_bodies_read() -> None:
    weight = np.float32([0.5, 2.0])

    @script
    def program(x: FLOAT["N"], n: INT64):
        z = op.Exp(x)
        y = x
        for _ in range(n):
            if op.ReduceSum(y, keepdims=0) > 1.0:
                y = y * z * weight
            else:
                y = op.Sin(y + z) * weight
        return op.ReduceSum(y, keepdims=0)

    def same(x: Any, w: Any) -> Any:
        z, y = torch.exp(x), x
        for _ in range(4):
            y = y * z * w if y.sum() > 1 else torch.sin(y + z) * w
        return y.sum()

    x = np.float32([0.3, -0.2])
    found = program.to_model().gradient(wrt=["x", "weight"])(x, np.int64(4))[1:]
    for mine, wanted in zip(found, slopes(same, x, weight), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


def test_third_derivatives_of_control_flow() -> None:
    @script
    def program(x: FLOAT, n: INT64):
        y = x
        for _ in range(n):
            y = y * y if y > 0.5 else op.Sin(y) + 0.3
        return y

    x = torch.tensor(0.7, requires_grad=True)
    y = x
    for _ in range(4):
        y = y * y if y > 0.5 else torch.sin(y) + 0.3
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    second = grad(lambda x, n: grad(program)(x, n))
    found = grad(lambda x, n: second(x, n))(np.float32(0.7), np.int64(4))
    np.testing.assert_allclose(found, y.item(), rtol=1e-4)


def test_a_function_that_does_not_fit_its_call() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 18, "local": 1]>
        g (float[2, 3] x, float[4, 5] w) => (float loss) {
          y = local.product (x, w)
          loss = ReduceSum<keepdims = 0> (y)
        }
        <domain: "local", opset_import: ["": 18]> product (a, b) => (c) { c = MatMul (a, b) }"""
    )
    with pytest.raises(ShapeError, match="MatMul cannot multiply A of shape"):
        Model.from_proto(proto).gradient(wrt=["x"])


def test_an_operator_of_a_strangers_domain_is_named() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 18, "my": 1]>
        g (float[2] x) => (float loss) {
          y = my.Foo (x)
          loss = ReduceSum<keepdims = 0> (y)
        }"""
    )
    with pytest.raises(NotDifferentiableError, match=r"no gradient of my.Foo.*\n.*'loss' ← a node ReduceSum"):
        Model.from_proto(proto).gradient(wrt=["x"])
