"""Losses on classes: of scores and of the weights of classes, against the formula differentiated by torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onnxsmith import opset21 as op
from onnxsmith.grad import grad


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
