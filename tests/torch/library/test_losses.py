"""Losses with every reduction and their options."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402  # torch may be missing

from tests.torch.library.together import agree, slopes_agree  # noqa: E402

X, Y = torch.linspace(0.1, 0.9, 12).reshape(3, 4), torch.linspace(0.8, 0.2, 12).reshape(3, 4)
FUNCTIONS: dict[str, Any] = {
    "mse_loss, none": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "mse_loss, mean": lambda x, y: F.mse_loss(x, y, reduction="mean"),
    "mse_loss, sum": lambda x, y: F.mse_loss(x, y, reduction="sum"),
    "l1_loss, none": lambda x, y: F.l1_loss(x, y, reduction="none"),
    "l1_loss, mean": lambda x, y: F.l1_loss(x, y, reduction="mean"),
    "l1_loss, sum": lambda x, y: F.l1_loss(x, y, reduction="sum"),
    "binary_cross_entropy, none": lambda x, y: F.binary_cross_entropy(x, y, reduction="none"),
    "binary_cross_entropy, mean": lambda x, y: F.binary_cross_entropy(x, y, reduction="mean"),
    "binary_cross_entropy, sum": lambda x, y: F.binary_cross_entropy(x, y, reduction="sum"),
    "kl_div, none": lambda x, y: F.kl_div(x, y, reduction="none"),
    "kl_div, mean": lambda x, y: F.kl_div(x, y, reduction="batchmean"),
    "kl_div, sum": lambda x, y: F.kl_div(x, y, reduction="sum"),
    "soft_margin_loss, none": lambda x, y: F.soft_margin_loss(x, y, reduction="none"),
    "soft_margin_loss, mean": lambda x, y: F.soft_margin_loss(x, y, reduction="mean"),
    "soft_margin_loss, sum": lambda x, y: F.soft_margin_loss(x, y, reduction="sum"),
    "smooth_l1_loss, none": lambda x, y: F.smooth_l1_loss(x, y, reduction="none"),
    "smooth_l1_loss, mean": lambda x, y: F.smooth_l1_loss(x, y, reduction="mean"),
    "smooth_l1_loss, sum": lambda x, y: F.smooth_l1_loss(x, y, reduction="sum"),
    "huber_loss, none": lambda x, y: F.huber_loss(x, y, reduction="none"),
    "huber_loss, mean": lambda x, y: F.huber_loss(x, y, reduction="mean"),
    "huber_loss, sum": lambda x, y: F.huber_loss(x, y, reduction="sum"),
    "poisson_nll_loss, none": lambda x, y: F.poisson_nll_loss(x, y, reduction="none"),
    "poisson_nll_loss, mean": lambda x, y: F.poisson_nll_loss(x, y, reduction="mean"),
    "poisson_nll_loss, sum": lambda x, y: F.poisson_nll_loss(x, y, reduction="sum"),
    "smooth_l1_loss, beta": lambda x, y: F.smooth_l1_loss(x, y, beta=0.1),
    "huber_loss, delta": lambda x, y: F.huber_loss(x, y, delta=0.1),
    "kl_div of logarithms": lambda x, y: F.kl_div(x, y, log_target=True, reduction="sum"),
    "binary_cross_entropy, weights": lambda x, y: F.binary_cross_entropy(x, y, x + 1),
    "with logits": lambda x, y: F.binary_cross_entropy_with_logits(x, y),
    "with logits, all": lambda x, y: F.binary_cross_entropy_with_logits(
        x, y, x + 1, pos_weight=y[0], reduction="sum"
    ),
    "poisson, all": lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True),
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1]), 0.2),
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, (x - y).sign(), 0.1),
    "hinge_embedding_loss": lambda x, y: F.hinge_embedding_loss(x, (x - y).sign(), 0.7),
    "triplet_margin_loss": lambda x, y: F.triplet_margin_loss(x, y, x + 0.1),
    "multi_margin_loss": lambda x, y: F.multi_margin_loss(x, torch.tensor([0, 3, 1])),
    "multilabel_soft_margin_loss": lambda x, y: F.multilabel_soft_margin_loss(x, y),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, Y)


#: Losses at points where their formulas choose.
SLOPES: dict[str, Any] = {
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, -torch.ones_like(x)),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, torch.ones_like(x), torch.ones_like(x)),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x[None], torch.tensor([1])),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x[None], torch.tensor([[1, -1, 0, 0]])),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(
        x.clamp(0.0, 1.0), torch.tensor([0.0, 0.0, 1.0, 0.3], dtype=x.dtype)
    ),
    "binary_cross_entropy with weights": lambda x: F.binary_cross_entropy(
        x.clamp(0.25, 0.75), x.clamp(0.0, 1.0), weight=torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=x.dtype)
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_are_those_of_torch(dtype: Any) -> None:
    slopes_agree(SLOPES, torch.tensor([0.0, 1.0, -2.0, 0.5], dtype=dtype))
