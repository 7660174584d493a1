"""Loops inside loops: what they keep on the way forward gives the gradient that computing again gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op
from onnxsmith.grad import grad, jvp, training_step, value_and_grad, vjp


@script
def two(x: FLOAT["N"], a: INT64, b: INT64):
    y = x
    for _ in range(a):
        for _ in range(b):
            y = op.Sin(y + x) * 1.1
        y = y * x
    return op.ReduceSum(y, keepdims=0)


def torchs_two(x: torch.Tensor, a: int, b: int) -> torch.Tensor:
    y = x
    for _ in range(a):
        for _ in range(b):
            y = torch.sin(y + x) * 1.1
        y = y * x
    return y.sum()


@script
def three(x: FLOAT["N"], a: INT64, b: INT64):
    y = x
    for _ in range(a):
        for j in range(b):
            for _ in range(j):
                y = op.Sin(y + x) * 1.1
            y = y * 1.01
        y = y * x
    return op.ReduceSum(y, keepdims=0)


def torchs_three(x: torch.Tensor, a: int, b: int) -> torch.Tensor:
    y = x
    for _ in range(a):
        for j in range(b):
            for _ in range(j):
                y = torch.sin(y + x) * 1.1
            y = y * 1.01
        y = y * x
    return y.sum()


@script
def growing(x: FLOAT["N"], a: INT64, b: INT64):
    y = x
    for i in range(a):
        z = y
        while op.ReduceSum(z * z, keepdims=0) < 5.0:
            z = op.Concat(z, z * 1.5, axis=0)
        for _ in range(i + b):
            y = op.Sin(y + x)
        y = y + op.ReduceMean(z, keepdims=0)
    return op.ReduceSum(y, keepdims=0)


def torchs_growing(x: torch.Tensor, a: int, b: int) -> torch.Tensor:
    y = x
    for i in range(a):
        z = y
        while (z * z).sum() < 5.0:
            z = torch.cat([z, z * 1.5])
        for _ in range(i + b):
            y = torch.sin(y + x)
        y = y + z.mean()
    return y.sum()


X = np.float32([0.4, -0.7, 0.9])
PAIRS: dict[str, tuple[Any, Any]] = {
    "two": (two, torchs_two),
    "three": (three, torchs_three),
    "of growing tensors": (growing, torchs_growing),
}


@pytest.mark.parametrize("trips", [(2, 3), (0, 2), (3, 0), (1, 1), (3, 4)])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("keeps", [True, False])
def test_gradients_are_those_of_torch(name: str, trips: tuple[int, int], keeps: bool) -> None:
    ours, theirs = PAIRS[name]
    x = torch.tensor(X, requires_grad=True)
    (wanted,) = torch.autograd.grad(theirs(x, *trips), x)
    found = grad(ours, keep_nested_loops=keeps)(X, *map(np.int64, trips))
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-5)


def test_second_derivatives_through_what_is_kept() -> None:
    x = torch.tensor(X, requires_grad=True)
    (first,) = torch.autograd.grad(torchs_two(x, 2, 3), x, create_graph=True)
    (wanted,) = torch.autograd.grad(first.sum(), x)
    slope = grad(two, keep_nested_loops=True)
    _, found = jvp(slope)(X, np.int64(2), np.int64(3), tangent=np.ones(3, np.float32))
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-3, atol=1e-4)


def test_what_is_kept_is_not_computed_again() -> None:
    def loops(keeps: bool) -> int:
        made = two.to_model().gradient(wrt="x", keep_nested_loops=keeps)
        return sum(node.op_type == "Loop" for node in made.ir.graph.all_nodes())

    assert loops(True) < loops(False)


def test_every_door_takes_it() -> None:
    given = X, np.int64(2), np.int64(3)
    wanted = grad(two)(*given)
    np.testing.assert_allclose(value_and_grad(two, keep_nested_loops=True)(*given)[1], wanted, rtol=1e-5)
    weighted = vjp(two, keep_nested_loops=True)(*given, cotangent=np.float32(1))
    np.testing.assert_allclose(weighted[1], wanted, rtol=1e-5)
    assert "keep_nested_loops" in training_step.__doc__
