"""Losses, by their formulas in numpy, and the types of their targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.grad import losses, value_and_grad
from onnxsmith.grad.losses import target_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

X = np.array([[0.5, -2.0, 3.0], [1.5, 0.25, -1.0]])
Y = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
SIZE = np.abs(X - Y)
FUNCTIONS: dict[str, tuple[Any, Any, float]] = {
    "squared": (losses.squared, Y, ((X - Y) ** 2).mean()),
    "absolute": (losses.absolute, Y, SIZE.mean()),
    "huber": (losses.huber(), Y, np.where(SIZE < 1, SIZE**2 / 2, SIZE - 0.5).mean()),
    "huber, delta": (losses.huber(2.0), Y, np.where(SIZE < 2, SIZE**2 / 2, 2 * (SIZE - 1)).mean()),
    "hinge": (losses.hinge, Y, np.maximum(1 - X * Y, 0).mean()),
    "binary": (
        losses.binary_cross_entropy,
        (Y + 1) / 2,
        -np.log(np.where(Y > 0, 1 / (1 + np.exp(-X)), 1 / (1 + np.exp(X)))).mean(),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes(name: str) -> None:
    loss, target, wanted = FUNCTIONS[name]
    value, slope = value_and_grad(loss)(X, target)
    assert float(value) == pytest.approx(wanted, rel=1e-6)
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = 1e-6
        ahead, back = (float(value_and_grad(loss)(X + sign * step, target)[0]) for sign in (1, -1))
        assert slope[place] == pytest.approx((ahead - back) / 2e-6, abs=1e-5)


def test_of_classes() -> None:
    scores, classes = X.astype(np.float32), np.array([2, 0])
    logs = X - np.log(np.exp(X).sum(1, keepdims=True))
    wanted = -logs[[0, 1], classes].mean()
    assert float(value_and_grad(losses.cross_entropy)(scores, classes)[0]) == pytest.approx(wanted, rel=1e-5)
    found = value_and_grad(losses.negative_log_likelihood)(logs.astype(np.float32), classes)[0]
    assert float(found) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("loss", "shape", "wanted"),
    [
        (losses.cross_entropy, (4, 3), TensorType(DType.INT64, (4,))),
        (losses.negative_log_likelihood, (4, 3, 5), TensorType(DType.INT64, (4, 5))),
        (losses.cross_entropy, None, TensorType(DType.INT64, None)),
        (losses.squared, (4, 3), TensorType(DType.FLOAT, (4, 3))),
        (abs, (4, 3), TensorType(DType.FLOAT, (4, 3))),
    ],
)
def test_types_of_targets(loss: Any, shape: Any, wanted: TensorType) -> None:
    assert target_type(loss, TensorType(DType.FLOAT, shape)) == wanted


@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.0), (0.0, 0.25), (0.5, 0.25)])
def test_penalties(l1: float, l2: float) -> None:
    penalty: Any = losses.elastic_penalty(l1=l1, l2=l2)
    value, slope = value_and_grad(lambda w: penalty(w, w[0]))(X)
    wanted = sum(l1 * np.abs(each).sum() + l2 / 2 * (each**2).sum() for each in (X, X[0]))
    assert float(value) == pytest.approx(wanted)
    own = l1 * np.sign(X) + l2 * X
    np.testing.assert_allclose(slope, own * [[2], [1]], rtol=1e-6)


def test_a_penalty_of_nothing() -> None:
    assert losses.elastic_penalty()(X) == 0.0
