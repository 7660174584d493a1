"""Losses of elements and of classes against torch, at logits that overflow, targets of zero, ignored classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from onnxsmith.algorithms import class_losses, losses
from tests.algorithms.running import computed

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(4, 6)) * 2, [[0.0, -0.0, 90.0, -90.0, 1.0, -1.0]]])
TARGET = np.concatenate([RNG.uniform(size=(4, 6)), [[0.0, 1.0, 0.0, 1.0, 0.5, 0.0]]])
PROBABILITIES = np.concatenate([RNG.uniform(size=(4, 6)), [[0.0, 1.0, 0.5, 0.0, 1.0, 1e-30]]])
COUNTS = RNG.integers(0, 5, (5, 6)).astype(float)

ELEMENTS: dict[str, tuple[Any, Any, Any, Any]] = {
    "squared": (losses.squared_error, functional.mse_loss, X, TARGET),
    "absolute": (losses.absolute_error, functional.l1_loss, X, TARGET),
    "smooth": (
        lambda x, y: losses.smooth_l1(x, y, 0.7),
        lambda x, y, reduction: functional.smooth_l1_loss(x, y, beta=0.7, reduction=reduction),
        *(X, TARGET),
    ),
    "huber": (
        lambda x, y: losses.huber(x, y, 0.7),
        lambda x, y, reduction: functional.huber_loss(x, y, delta=0.7, reduction=reduction),
        *(X, TARGET),
    ),
    "entropy": (losses.binary_cross_entropy, functional.binary_cross_entropy, PROBABILITIES, TARGET),
    "logits": (
        losses.binary_cross_entropy_with_logits,
        functional.binary_cross_entropy_with_logits,
        *(X, TARGET),
    ),
    "soft margin": (losses.soft_margin, functional.soft_margin_loss, X, np.sign(TARGET - 0.4)),
    "divergence": (losses.divergence, functional.kl_div, X, TARGET),
    "poisson": (
        lambda x, y: losses.poisson_likelihood(x, y, with_factorial=True),
        lambda x, y, reduction: functional.poisson_nll_loss(x, y, full=True, reduction=reduction),
        *(X, COUNTS),
    ),
}


@pytest.mark.filterwarnings("ignore:reduction. 'mean'")  # torch may change what it divides a divergence by
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_of_elements(name: str, dtype: str, reduction: Any):
    function, oracle, x, target = ELEMENTS[name]
    x, target = x.astype(dtype), target.astype(dtype)
    precision = 16 * float(np.finfo(dtype).eps)
    (found,) = computed(
        lambda x, y: losses.reduced(function(x, y), reduction), x, target, tolerance=4 * precision
    )
    wanted = oracle(torch.from_numpy(x), torch.from_numpy(target), reduction=reduction)
    np.testing.assert_allclose(found, wanted.numpy(), precision, precision)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("shape", [(5, 4), (3, 4, 2), (4,)])
def test_cross_entropy(shape: tuple[int, ...], is_weighted: bool, smoothing: float, reduction: Any):
    x = RNG.normal(size=shape) * 3
    target = RNG.integers(0, 4, (shape[0], *shape[2:]) if len(shape) > 1 else ())
    if target.ndim:
        target.flat[1] = -100
    weight = RNG.uniform(0.5, 2, 4)

    def loss(x: Any, target: Any, *weights: Any) -> Any:
        return class_losses.cross_entropy(x, target, *(weights or (None,)), reduction, -100, smoothing)

    given = (x, target, weight) if is_weighted else (x, target)
    (found,) = computed(loss, *given, tolerance=1e-12)
    wanted = functional.cross_entropy(
        torch.from_numpy(x),
        torch.from_numpy(np.asarray(target)),
        torch.from_numpy(weight) if is_weighted else None,
        label_smoothing=smoothing,
        reduction=reduction,
    )
    np.testing.assert_allclose(found, wanted.numpy(), 1e-12)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_probabilities_as_targets(reduction: Any):
    x, target = RNG.normal(size=(5, 4)), RNG.dirichlet(np.ones(4), 5)
    (found,) = computed(
        lambda x, y: class_losses.cross_entropy(x, y, None, reduction), x, target, tolerance=1e-12
    )
    wanted = functional.cross_entropy(torch.from_numpy(x), torch.from_numpy(target), reduction=reduction)
    np.testing.assert_allclose(found, wanted.numpy(), 1e-12)


@pytest.mark.parametrize("is_squared", [False, True])
def test_margins(is_squared: bool):
    x, target = RNG.normal(size=(5, 4)), RNG.integers(0, 4, 5)
    (found,) = computed(
        lambda x, y: class_losses.multi_margin(x, y, is_squared=is_squared), x, target, tolerance=1e-12
    )
    given = torch.from_numpy(x), torch.from_numpy(target)
    wanted = functional.multi_margin_loss(*given, p=1 + is_squared, reduction="none")
    np.testing.assert_allclose(found, wanted.numpy(), 1e-12)


def test_margins_of_several_classes():
    x = RNG.normal(size=(3, 4))
    target = np.array([[2, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]])
    found, flags = computed(class_losses.multilabel_margin, x, target, tolerance=1e-12)
    wanted = functional.multilabel_margin_loss(
        torch.from_numpy(x), torch.from_numpy(target), reduction="none"
    )
    np.testing.assert_allclose(found, wanted.numpy(), 1e-12)
    np.testing.assert_array_equal(flags, [[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
