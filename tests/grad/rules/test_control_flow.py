"""Gradients through `If`, `Loop` and `Scan`, with trips that only the model knows, against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
import torch

from onnxsmith import FLOAT, INT64, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.grad import grad, jvp, value_and_grad
from tests.grad.node_gradients import wrong_of_family

X = np.array([0.3, -0.7, 1.2], np.float32)
W = np.array(0.9, np.float32)


def expected(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """The gradients that torch gives."""
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    found = torch.autograd.grad(function(*tensors), tensors, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(tensors, found, strict=True)]


def check(found: Any, wanted: Any) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-6)


@script
def repeated(x: FLOAT["N"], w: FLOAT, n: INT64):
    h = x
    for _ in range(n):
        h = op.Tanh(h * w)
    return op.ReduceSum(h, keepdims=0)


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_a_loop_with_trips_that_only_the_model_knows(trips: int) -> None:
    def same(x: Any, w: Any) -> Any:
        for _ in range(trips):
            x = torch.tanh(x * w)
        return x.sum()

    check(grad(repeated, wrt=(0, 1))(X, W, np.int64(trips)), expected(same, X, W))


def test_one_model_serves_all_trips(tmp_path: Any) -> None:
    model = grad(repeated).to_model(FLOAT["N"], FLOAT, INT64)
    model.check()
    model.save(tmp_path / "loop.onnx")
    for trips in (0, 3):
        wanted = grad(repeated)(X, W, np.int64(trips))
        np.testing.assert_allclose(load(tmp_path / "loop.onnx")(X, W, np.int64(trips))[1], wanted)


def test_a_branch() -> None:
    @script
    def either(x: FLOAT["N"], w: FLOAT):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            y = x * w
        else:
            y = x * x
        return op.ReduceSum(y, keepdims=0)

    for x in (X, -X):
        check(
            grad(either, wrt=(0, 1))(x, W),
            expected(lambda x, w: ((x * w) if x.sum() > 0 else (x * x)).sum(), x, W),
        )


def test_a_branch_of_which_one_side_is_not_finite() -> None:
    @script
    def either(x: FLOAT):
        if x > 0.0:
            y = op.Log(x)
        else:
            y = x * 3.0
        return y

    assert grad(either)(np.float32(0.0)) == 3.0


def test_a_state_whose_shape_changes() -> None:
    @script
    def doubling(x: FLOAT["N"], n: INT64):
        h = x
        for _ in range(n):
            h = op.Concat(h, h * 2.0, axis=0)
        return op.ReduceSum(h * h, keepdims=0)

    for trips in (0, 3):
        np.testing.assert_allclose(grad(doubling)(X, np.int64(trips)), 2 * X * 5**trips, rtol=1e-6)


def test_a_condition_that_the_state_decides() -> None:
    @script
    def squared(x: FLOAT):
        y = x
        while y < 100.0:
            y = y * y + 1.0
        return y

    value, slope = value_and_grad(squared)(np.float32(1.5))
    y, wanted = 1.5, 1.0
    while y < 100.0:
        y, wanted = y * y + 1.0, wanted * 2 * y
    np.testing.assert_allclose([value, slope], [y, wanted], rtol=1e-6)


def test_a_loop_in_a_loop() -> None:
    @script
    def nested(x: FLOAT["N"], w: FLOAT, n: INT64):
        h = x
        for i in range(n):
            k = h
            for _ in range(i):
                k = op.Sin(k * w)
            h = h + k
        return op.ReduceSum(h, keepdims=0)

    def same(x: Any, w: Any) -> Any:
        for i in range(4):
            k = x
            for _ in range(i):
                k = torch.sin(k * w)
            x = x + k
        return x.sum()

    check(grad(nested, wrt=(0, 1))(X, W, np.int64(4)), expected(same, X, W))
    forward, back = _loops(nested.to_model().gradient(wrt=["x"]).ir.graph)
    (inner,) = _loops(forward.attributes["body"].as_graph())
    again, inner_back = _loops(back.attributes["body"].as_graph())
    # The inner loop keeps no states on the way forward, which would be those of all turns of both.
    assert len(inner.outputs) == len(inner_back.outputs) == 1 < len(again.outputs)


def _loops(graph: ir.Graph) -> list[ir.Node]:
    return [node for node in graph if node.op_type == "Loop"]


@pytest.mark.parametrize("backwards", [0, 1])
def test_a_scan(backwards: int) -> None:
    rows, weights = (
        np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32),
        np.float32([0.5, 0.7]),
    )

    def scanned(x, w):
        last, rows = op.Scan(
            np.zeros(2, np.float32),
            x,
            body=lambda s, v: (s * w + v, s * v),
            num_scan_inputs=1,
            scan_input_directions=[backwards],
            scan_output_directions=[1],
        )
        return (last * last).sum() + (rows[0] * 3.0).sum() + rows.sum()

    def same(x: Any, w: Any) -> Any:
        s, kept = torch.zeros(2), []
        for v in x.flip(0) if backwards else x:
            kept.append(s * v)
            s = s * w + v
        return (s * s).sum() + (kept[-1] * 3.0).sum() + torch.stack(kept).sum()

    check(grad(scanned, wrt=(0, 1))(rows, weights), expected(same, rows, weights))


def test_second_derivatives_of_a_loop() -> None:
    def same(x: Any) -> Any:
        h = x
        for _ in range(3):
            h = torch.tanh(h * 0.9)
        (first,) = torch.autograd.grad(h.sum(), x, create_graph=True)
        return first.sum()

    second = grad(lambda x, w, n: grad(repeated)(x, w, n).sum())
    check([second(X, W, np.int64(3))], expected(same, X))


def test_a_loop_forwards() -> None:
    tangent = np.float32([1, 0, -2])
    _, change = jvp(repeated)(X, W, np.int64(3), tangent=tangent)
    np.testing.assert_allclose(change, grad(repeated)(X, W, np.int64(3)) @ tangent, rtol=1e-5)


def test_a_state_that_does_not_depend_on_it_costs_nothing() -> None:
    model = trace(
        lambda x, n: op.Loop(n, None, x, np.int64(0), body=lambda i, c, h, k: (c, h * 2.0, k + i))[0].sum(),
        FLOAT["N"],
        INT64,
    )
    np.testing.assert_array_equal(model.gradient(wrt=["x"])(X, np.int64(4))[1], np.full(3, 16))


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("control_flow") == []
