"""Gradients of normalisations, with scales and shifts, along the axes that each of them has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset24 as op
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
