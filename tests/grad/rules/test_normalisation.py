"""Gradients of normalisations, with scales and shifts, along the axes that each of them has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import DOUBLE, FLOAT, trace
from onnxsmith import opset24 as op
from onnxsmith.algorithms import normalisation
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

X = np.random.default_rng(0).standard_normal((2, 3, 4))
SCALE, SHIFT, VARIANCE = np.array([0.5, 1.5, 2.0]), np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 0.5])
ROW = np.array([0.5, 1.5, 2.0, -1.0])


def _in_training(x: Any, mean: Any, variance: Any) -> tuple[Any, ...]:
    y, means, variances = op.BatchNormalization(
        x, SCALE, SHIFT, mean, variance, training_mode=1, momentum=0.6, epsilon=0.1
    )
    return y, means, variances


#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "BatchNormalization": (
        lambda x, s, b, m, v: op.BatchNormalization(x, s, b, m, v, epsilon=0.1),
        X,
        SCALE,
        SHIFT,
        SHIFT + 1,
        VARIANCE,
    ),
    "BatchNormalization in training": (
        lambda x, s, b: op.BatchNormalization(x, s, b, SHIFT, VARIANCE, training_mode=1, epsilon=0.1),
        X,
        SCALE,
        SHIFT,
    ),
    "mean of BatchNormalization in training": (lambda x: _in_training(x, SHIFT, VARIANCE)[1], X),
    "variance of BatchNormalization in training": (lambda x: _in_training(x, SHIFT, VARIANCE)[2], X),
    "all of BatchNormalization in training": (
        lambda x, m, v: op.Sum(*(op.ReduceSum(each * each) for each in _in_training(x, m, v))),
        X,
        SHIFT,
        VARIANCE,
    ),
    "InstanceNormalization": (
        lambda x, s, b: op.InstanceNormalization(x, s, b, epsilon=0.1),
        X,
        SCALE,
        SHIFT,
    ),
    "LayerNormalization": (lambda x, s, b: op.LayerNormalization(x, s, b, epsilon=0.1)[0], X, ROW, ROW + 1),
    "LayerNormalization over two axes": (lambda x, s: op.LayerNormalization(x, s, axis=1)[0], X, X[0]),
    "RMSNormalization": (lambda x, s: op.RMSNormalization(x, s, epsilon=0.1), X, ROW),
    "LpNormalization": (lambda x: op.LpNormalization(x), X),
    "LpNormalization by absolutes": (lambda x: op.LpNormalization(x, axis=1, p=1), X),
    "LRN": (lambda x: op.LRN(x, size=3, alpha=0.5, beta=0.6, bias=1.5), X[..., None]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("normalisation") == []


_READ_OF_BATCH = [
    (True, False, False, False),
    (False, True, True, False),
    (True, False, False, True),
    (True,) * 4,
]


def _of_batch(read: tuple[bool, ...], made: Any) -> Any:
    """A number of what a normalisation of a batch gives: the result, its mean, its variance, one over its deviation."""
    parts = [(each * each * each * each).sum() for each, is_read in zip(made, read, strict=True) if is_read]
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize("read", _READ_OF_BATCH)
def test_batch_norm_by_its_own_statistics(read: tuple[bool, ...]) -> None:
    """First and second derivatives beside torch's, whatever is read of it."""
    drawn = np.random.default_rng(0)
    arrays = [drawn.uniform(0.5, 1.5, shape) for shape in ((3, 2, 4, 2), (2,), (2,))]

    def loss(x: Any, weight: Any, bias: Any) -> Any:
        return _of_batch(read, normalisation.batch_norm(x, weight, bias, 1e-2))

    kinds = [DOUBLE[each.shape] for each in arrays]
    model = trace(loss, *kinds, input_names=["x", "weight", "bias"])
    wrt = ["x", "weight"] if read[0] else ["x"]
    slope = model.gradient(wrt=wrt)
    length = trace(
        lambda *given: sum((each * each).sum() for each in slope(*given)[1:]),
        *kinds,
        input_names=["x", "weight", "bias"],
    )
    x, weight, bias = (torch.tensor(each, requires_grad=True) for each in arrays)
    mean = x.mean((0, 2, 3))
    variance = x.var((0, 2, 3), correction=0)
    inverse = (variance + 1e-2) ** -0.5
    result = torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True, eps=1e-2)
    total = _of_batch(read, (result, mean, variance, inverse))
    sought = [x, weight] if read[0] else [x]
    first = torch.autograd.grad(total, sought, create_graph=True)
    squares: Any = sum((each * each).sum() for each in first)
    second = torch.autograd.grad(squares, [x])
    for mine, theirs in zip(slope(*arrays)[1:], first, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-9, atol=1e-11)
    found = length.gradient(wrt=["x"])(*arrays)[1]
    np.testing.assert_allclose(found, second[0].numpy(), rtol=1e-7, atol=1e-9)


def test_batch_norm_takes_few_passes() -> None:
    """On the way back five operators go over the batch: two products, a normalisation, a sum, and one product more."""
    kinds = FLOAT[8, 4, 5, 5], FLOAT[4], FLOAT[4], FLOAT[8, 4, 5, 5]

    def loss(x: Any, weight: Any, bias: Any, g: Any) -> Any:
        return op.ReduceSum(normalisation.batch_norm(x, weight, bias, 1e-5).result * g, keepdims=0)

    model = trace(loss, *kinds, input_names=["x", "weight", "bias", "g"])
    made = model.gradient(wrt=["x", "weight", "bias"])
    sizes = [
        sum(len(each.outputs[0].shape or ()) == 4 and each.outputs[0].shape[0] == 8 for each in graph)
        for graph in (model.gradient(wrt=["g"]).ir.graph, made.ir.graph)
    ]
    assert sizes[1] - sizes[0] <= 5
