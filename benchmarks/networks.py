"""Networks with random weights, as PyTorch modules of torch's own layers: no package of models is needed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

VOCABULARY = 30_522


@dataclass(frozen=True)
class Sizes:
    """The sizes of a transformer."""

    layers: int
    width: int
    heads: int
    inner: int
    longest: int
    vocabulary: int = VOCABULARY


#: BERT-base, and a Llama of 16 layers.
BERT_BASE = Sizes(12, 768, 12, 3072, 512)
LLAMA_16 = Sizes(16, 1024, 16, 2816, 512, vocabulary=32_000)
SMALL = Sizes(2, 64, 4, 128, 64, vocabulary=100)


class _Attention(nn.Module):
    def __init__(self, sizes: Sizes, *, bias: bool, is_causal: bool) -> None:
        super().__init__()
        self.heads, self.is_causal = sizes.heads, is_causal
        self.query, self.key, self.value, self.out = (
            nn.Linear(sizes.width, sizes.width, bias=bias) for _ in range(4)
        )

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, turn: Any = None) -> Tensor:
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        if turn is not None:
            query, key = turn(query), turn(key)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=self.is_causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class _BertLayer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = _Attention(sizes, bias=True, is_causal=False)
        self.first, self.second = nn.LayerNorm(sizes.width), nn.LayerNorm(sizes.width)
        self.up, self.down = nn.Linear(sizes.width, sizes.inner), nn.Linear(sizes.inner, sizes.width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x + self.attention(x))
        return self.second(x + self.down(nn.functional.gelu(self.up(x))))


class Bert(nn.Module):
    """An encoder with layers as BERT has them."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.vocabulary, sizes.width)
        self.places = nn.Embedding(sizes.longest, sizes.width)
        self.norm = nn.LayerNorm(sizes.width)
        self.layers = nn.ModuleList(_BertLayer(sizes) for _ in range(sizes.layers))

    def forward(self, words: Tensor) -> Tensor:
        places = torch.arange(words.shape[1], device=words.device)
        x = self.norm(self.words(words) + self.places(places))
        for layer in self.layers:
            x = layer(x)
        return x


class Tagger(nn.Module):
    """An encoder that sorts texts into classes."""

    def __init__(self, sizes: Sizes, classes: int) -> None:
        super().__init__()
        self.encoder = Bert(sizes)
        self.head = nn.Linear(sizes.width, classes)

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.encoder(words).mean(1))


class _RootMeanSquare(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class _LlamaLayer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = _Attention(sizes, bias=False, is_causal=True)
        self.first, self.second = _RootMeanSquare(sizes.width), _RootMeanSquare(sizes.width)
        self.gate, self.up = (nn.Linear(sizes.width, sizes.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x: Tensor, turn: Any) -> Tensor:
        x = x + self.attention(self.first(x), turn)
        inner = self.second(x)
        return x + self.down(nn.functional.silu(self.gate(inner)) * self.up(inner))


class Llama(nn.Module):
    """A decoder with layers as Llama has them: rotary positions, gates, norms by root mean squares."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.vocabulary, sizes.width)
        self.layers = nn.ModuleList(_LlamaLayer(sizes) for _ in range(sizes.layers))
        self.norm = _RootMeanSquare(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        half = sizes.width // sizes.heads // 2
        angles = torch.arange(sizes.longest)[:, None] / 10_000 ** (torch.arange(half) / half)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, words: Tensor) -> Tensor:
        cos, sin = self.cos[: words.shape[1]], self.sin[: words.shape[1]]

        def turn(x: Tensor) -> Tensor:
            one, two = x.chunk(2, -1)
            return torch.cat((one * cos - two * sin, two * cos + one * sin), -1)

        x = self.words(words)
        for layer in self.layers:
            x = layer(x, turn)
        return self.head(self.norm(x))


class _Bottleneck(nn.Module):
    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        after = 4 * width
        self.body = nn.Sequential(
            *_convolution(before, width, 1, 1),
            nn.ReLU(),
            *_convolution(width, width, 3, stride),
            nn.ReLU(),
            *_convolution(width, after, 1, 1),
        )
        is_same = before == after and stride == 1
        self.shortcut = nn.Identity() if is_same else nn.Sequential(*_convolution(before, after, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def _convolution(before: int, after: int, side: int, stride: int) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(before, after, side, stride, side // 2, bias=False), nn.BatchNorm2d(after)


def resnet(blocks: Sequence[int] = (3, 4, 6, 3), width: int = 64, classes: int = 1000) -> nn.Module:
    """A residual network of bottlenecks; ResNet-50 unless other numbers are given."""
    layers: list[nn.Module] = [*_convolution(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = width
    for stage, count in enumerate(blocks):
        inner = width * 2**stage
        for block in range(count):
            layers.append(_Bottleneck(before, inner, 2 if stage and not block else 1))
            before = 4 * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def perceptron(widths: Sequence[int]) -> nn.Module:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])
