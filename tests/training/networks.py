"""Small networks of torch for the tests of training, with the shape of a batch for each; all give five classes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


class Attending(nn.Module):
    """A transformer layer with a pooled output, whose weights all have gradients that are not noise."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, bias=False)
        self.out = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(x).mean(1))


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 5))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 5)
    )


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "perceptron": (perceptron, (8, 7)),
    "convolutional": (convolutional, (6, 1, 8, 8)),
    "transformer": (Attending, (4, 6, 8)),
}
