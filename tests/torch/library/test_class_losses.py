"""Losses over classes, with every option."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 9, 24).reshape(2, 4, 3).sin()
Y = torch.tensor([[0, 3, 1], [2, 2, 3]])
WEIGHT = torch.tensor([0.5, 2.0, 1.0, 0.25])

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ignored": {"ignore_index": 3},
    "weights": {"weight": WEIGHT},
    "both": {"weight": WEIGHT, "ignore_index": 2},
}
FUNCTIONS: dict[str, Any] = {
    **{
        f"nll {name} {reduction}": lambda x, y, options=options, reduction=reduction: F.nll_loss(
            x, y, reduction=reduction, **options
        )
        for name, options in OPTIONS.items()
        for reduction in ("none", "mean", "sum")
    },
    **{
        f"cross entropy {name} {reduction} {smooth}": lambda x, y, options=options, by=reduction, smooth=smooth: (
            F.cross_entropy(x, y, reduction=by, label_smoothing=smooth, **options)
        )
        for name, options in OPTIONS.items()
        for reduction in ("none", "mean", "sum")
        for smooth in (0.0, 0.2)
    },
    "nll of rows": lambda x, y: F.nll_loss(x[..., 0], y[:, 0]),
    "nll of one": lambda x, y: F.nll_loss(x[0, :, 0], y[0, 0]),
    "cross entropy of rows": lambda x, y: F.cross_entropy(x[..., 0], y[:, 0], WEIGHT),
    **{
        f"cross entropy by shares {reduction}": lambda x, y, reduction=reduction: F.cross_entropy(
            x, x.softmax(1), WEIGHT, reduction=reduction, label_smoothing=0.1
        )
        for reduction in ("none", "mean", "sum")
    },
    **{
        f"multi margin {p} {reduction}": lambda x, y, p=p, reduction=reduction: F.multi_margin_loss(
            x[..., 0], y[:, 0], p, 0.7, WEIGHT, reduction=reduction
        )
        for p in (1, 2)
        for reduction in ("none", "mean", "sum")
    },
    **{
        f"multilabel {reduction}": lambda x, y, reduction=reduction: F.multilabel_margin_loss(
            x[..., 0], torch.cat([y[:, :1], y[:, :1] * 0 + 1, y[:, :2] * 0 - 1], 1), reduction=reduction
        )
        for reduction in ("none", "mean", "sum")
    },
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, Y)
