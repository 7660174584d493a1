"""Gradients of activations, with their attributes by default and by choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

#: No element lies at a kink.
X = np.array([[-2.3, -0.8, -0.2], [0.3, 0.9, 3.7]])
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Relu": (lambda x: op.Relu(x), X),
    "LeakyRelu": (lambda x: op.LeakyRelu(x), X),
    "LeakyRelu, alpha": (lambda x: op.LeakyRelu(x, alpha=0.3), X),
    "PRelu": (lambda x, s: op.PRelu(x, s), X, np.array([0.1, 0.2, 0.3])),
    "Elu": (lambda x: op.Elu(x), X),
    "Elu, alpha": (lambda x: op.Elu(x, alpha=0.5), X),
    "Selu": (lambda x: op.Selu(x), X),
    "Selu, attributes": (lambda x: op.Selu(x, alpha=2.0, gamma=1.5), X),
    "Celu, alpha": (lambda x: op.Celu(x, alpha=2.0), X.astype(np.float32)),
    "ThresholdedRelu": (lambda x: op.ThresholdedRelu(x), X),
    "ThresholdedRelu, alpha": (lambda x: op.ThresholdedRelu(x, alpha=0.5), X),
    "HardSigmoid": (lambda x: op.HardSigmoid(x), X),
    "HardSigmoid, attributes": (lambda x: op.HardSigmoid(x, alpha=0.4, beta=0.3), X),
    "HardSwish": (lambda x: op.HardSwish(x), X),
    "Shrink": (lambda x: op.Shrink(x, lambd=0.5, bias=0.2), X),
    "Sigmoid": (lambda x: op.Sigmoid(x), X),
    "Softplus": (lambda x: op.Softplus(x), X),
    "Softsign": (lambda x: op.Softsign(x), X),
    "Swish": (lambda x: op.Swish(x), X),
    "Swish, alpha": (lambda x: op.Swish(x, alpha=0.5), X),
    "Mish": (lambda x: op.Mish(x), X.astype(np.float32)),
    "Gelu": (lambda x: op.Gelu(x), X),
    "Gelu by tanh": (lambda x: op.Gelu(x, approximate="tanh"), X),
    "Softmax": (lambda x: op.Softmax(x), X),
    "Softmax over the first axis": (lambda x: op.Softmax(x, axis=0), X),
    "LogSoftmax": (lambda x: op.LogSoftmax(x), X),
    "LogSoftmax over the first axis": (lambda x: op.LogSoftmax(x, axis=0), X),
}
#: There is no kernel that computes in double precision.
SINGLE = {"Celu, alpha", "Mish", "Gelu", "Shrink"}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays, is_single=name in SINGLE)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("activations") == []
