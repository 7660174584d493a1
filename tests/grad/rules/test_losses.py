"""Losses on classes: of scores and of the weights of classes, against the formula differentiated by torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onnxsmith import opset21 as op
from onnxsmith.grad import grad, value_and_grad
from tests.grad.node_gradients import wrong_of_family


@pytest.mark.parametrize("extra", [(), (3,), (2, 3)])
@pytest.mark.parametrize("ignored", [None, 1, -1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_scores_and_weights_of_classes(
    name: str, reduction: str, ignored: int | None, extra: tuple[int, ...]
) -> None:
    numbers = np.random.default_rng(2)
    scores = numbers.standard_normal((5, 4, *extra)).astype(np.float32)
    labels = numbers.integers(0, 4, (5, *extra))
    if ignored == -1:
        labels.flat[0] = -1
    weights = numbers.uniform(0.2, 1, 4).astype(np.float32)
    x, w = torch.tensor(scores, requires_grad=True), torch.tensor(weights, requires_grad=True)
    counts = torch.tensor(labels != ignored)
    safe = torch.tensor(np.where(labels == ignored, 0, labels))
    logarithms = x.log_softmax(1) if name.startswith("Softmax") else x
    share = w[safe] * counts
    each = -logarithms.gather(1, safe.unsqueeze(1)).squeeze(1) * share
    loss = {"mean": lambda: each.sum() / share.sum(), "sum": each.sum, "none": lambda: each}[reduction]()
    cotangent = torch.randn(loss.shape, generator=torch.Generator().manual_seed(1))
    wanted = torch.autograd.grad((loss * cotangent).sum(), (x, w))
    attributes = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})

    def total(x, w, labels):
        return (getattr(op, name)(x, labels, w, **attributes) * cotangent.numpy()).sum()

    found = grad(total, wrt=(0, 1))(scores, weights, labels)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2), (3, 4, 2, 2)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, 1.0, 0.0])
@pytest.mark.parametrize("ignored", ["all", "some", "none"])
@pytest.mark.parametrize("name", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_what_is_ignored_has_no_gradient_even_if_nothing_counts(
    name: str, ignored: str, weight: float | None, reduction: str, shape: tuple[int, ...]
) -> None:
    """The loss is not a number then, as in torch; labels of weight 0 are not ignored, and their gradient is not."""
    numbers = np.random.default_rng(4)
    scores = numbers.standard_normal(shape).astype(np.float32)
    labels = np.full((shape[0], *shape[2:]), 1)
    labels.reshape(-1)[: {"all": None, "some": 2, "none": 0}[ignored]] = -100
    weights = None if weight is None else np.array([1, weight, 1, 1], np.float32)
    x = torch.tensor(scores, requires_grad=True)
    same = F.nll_loss if name.startswith("Neg") else F.cross_entropy
    given = None if weights is None else torch.tensor(weights)
    loss = same(x, torch.tensor(labels), given, reduction=reduction)
    (wanted,) = torch.autograd.grad(loss.sum(), x)

    def total(x, *others):
        return getattr(op, name)(x, *others, reduction=reduction, ignore_index=-100).sum()

    value, found = value_and_grad(total)(scores, labels, *([] if weights is None else [weights]))
    np.testing.assert_allclose(value, loss.sum().item(), rtol=1e-5)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("losses") == []
