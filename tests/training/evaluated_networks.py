"""Networks that are trained in the form for training and evaluated in use, with the shape of a batch for each.

All give five classes. Those with dropout have none of it: ONNX Runtime draws other numbers than torch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from tests.training.networks import perceptron


class BlockWithNorms(nn.Module):
    """A residual block with batch normalisation, as of a ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.Conv2d(4, 4, 3, 2, 1, bias=False)
        self.first, self.second, self.third = nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.skip, self.out = nn.Conv2d(2, 4, 1, 2, bias=False), nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.second(self.b(torch.relu(self.first(self.a(x)))))
        return self.out(torch.relu(h + self.third(self.skip(x))).mean((2, 3)))


class Recurrent(nn.Module):
    """The last state of a recurrent layer."""

    def __init__(self, kind: type[nn.LSTM | nn.GRU]) -> None:
        super().__init__()
        self.layer, self.out = kind(6, 8, batch_first=True), nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(x)[0][:, -1])


class Attending(nn.Module):
    """A transformer layer with biases and a pooled output."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(x).mean(1))


class UNet(nn.Module):
    """Down, up, and the skip between, with batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.inner, self.up = nn.Conv2d(4, 8, 3, padding=1), nn.ConvTranspose2d(8, 4, 2, 2)
        self.out = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = torch.relu(self.norm(self.down(x)))
        deep = torch.relu(self.inner(nn.functional.max_pool2d(wide, 2)))
        return self.out(torch.cat([wide, self.up(deep)], 1).mean((2, 3)))


class Bags(nn.Module):
    """The mean of the embeddings of a bag, by numbers made of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(9, 6, mode="mean"), nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.bag((x.abs() * 4).long().clamp(max=8)))


class Scattered(nn.Module):
    """Messages of edges, added up at the nodes of a graph, as graph networks do."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.out = nn.Linear(4, 6), nn.Linear(6, 5)
        self.register_buffer("ends", torch.tensor([0, 1, 1, 2, 0, 2]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = torch.tanh(self.message(x))
        ends = self.ends.view(1, -1, 1).expand_as(made)
        sums = torch.zeros_like(made[:, :3]).scatter_add(1, ends, made)
        return self.out(sums.amax(1))


def lenet() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3), nn.ReLU()),
        *(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 5)),
    )


EVALUATED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "perceptron": (perceptron, (8, 7)),
    "LeNet": (lenet, (6, 1, 8, 8)),
    "ResNet block": (BlockWithNorms, (6, 2, 6, 6)),
    "LSTM": (lambda: Recurrent(nn.LSTM), (5, 4, 6)),
    "GRU": (lambda: Recurrent(nn.GRU), (5, 4, 6)),
    "transformer": (Attending, (4, 6, 8)),
    "U-Net block": (UNet, (4, 1, 6, 6)),
    "embedding bag": (Bags, (6, 5)),
    "scatter": (Scattered, (5, 6, 4)),
}
