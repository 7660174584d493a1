"""What can be computed before a model runs is, unless it is large, random, or may take long."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith import FLOAT, INT64, Tensor, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.report import PassedModel
from onnxsmith.passes import optimize
from tests.passes.agreement import model_of, operators, optimized

X = np.ones((2, 4), np.float32)


def test_constants_are_computed() -> None:
    weight = np.arange(8, dtype=np.float32).reshape(2, 4)
    model = trace(lambda x: x @ op.Transpose(op.Constant(value=weight) * 2.0), FLOAT["N", 4])
    assert operators(optimized(model, X, within=1e-6)) == ["MatMul"]


def test_weights_that_are_made_by_a_shape() -> None:
    body = "s = Constant<value_ints=[4]>() w = ConstantOfShape<value=float[1] {2.0}>(s) y = Mul(x, w)"
    model = model_of(f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}")
    assert operators(optimized(model, X)) == ["Mul"]


@pytest.mark.parametrize(
    "body",
    [
        "s = Constant<value_ints=[999999999]>() w = ConstantOfShape(s) r = ReduceSum<keepdims=0>(w) y = Add(x, r)",
        "r = RandomNormal<shape=[1]>() m = Mul(r, r) y = Add(x, m)",
        "s = Constant<value_ints=[2]>() r = Constant<value_float=0.5>() p = Expand(r, s) b = Bernoulli(p)"
        " m = ReduceSum<keepdims=0>(b) y = Add(x, m)",
    ],
)
def test_what_is_not_computed(body: str) -> None:
    model = model_of(
        f"g (float[N, 4] x) => (float[N, 4] y) {{ {body} }}", opset=13 if "Random" in body else 15
    )
    before = len(operators(model))
    assert len(operators(optimize(model))) >= before - 1


def test_a_default_of_an_input_is_no_constant() -> None:
    model = model_of("g (float[N, 4] x, float[1] w = {1.0}) => (float[N, 4] y) { y = Mul(x, w) }")
    assert operators(optimize(model)) == ["Mul"]


def test_a_large_weight_is_computed_when_it_is_read() -> None:
    weight = np.random.default_rng(0).standard_normal((1024, 512)).astype(np.float32)
    model = trace(lambda x: x @ op.Transpose(op.Constant(value=weight)), FLOAT["N", 512])
    small = optimized(model, np.ones((2, 512), np.float32))
    [value] = small.ir.graph.initializers.values()
    assert isinstance(value.const_value, ir.LazyTensor)
    assert value.const_value.shape == ir.Shape([512, 1024])


def _tied(rows: int, columns: int) -> PassedModel:
    """A model that reads one table twice, as it is and transposed, optimised."""
    weight = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)

    def tied(x: Tensor, places: Tensor) -> Tensor:
        table = op.Constant(value=weight)
        return op.Gather(table, places) @ op.Transpose(table) + x

    model = trace(tied, FLOAT[2, rows], INT64[2])
    return optimized(model, np.ones((2, rows), np.float32), np.array([3, 5]), within=1e-4)


@pytest.mark.parametrize(("rows", "columns"), [(1024, 512), (1024, 128), (256, 128)])
def test_a_large_weight_is_not_held_twice(rows: int, columns: int) -> None:
    small = _tied(rows, columns)
    assert small.report.weight_bytes_after <= 4 * rows * columns + 64
    assert "Transpose" in operators(small)
    [note] = small.report.notes
    assert note.endswith("is read as it is and transposed: its Transpose stays, to store it once")


def test_a_small_weight_may_be_held_twice() -> None:
    small = _tied(64, 16)
    assert "Transpose" not in operators(small)
    assert small.report.notes == []
