"""Models with unusual inputs and outputs, mutation, shared weights and symbolic sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.torch.models.catalogue import BATCH_AND_LENGTH, DYNAMIC, model, sequence


@dataclass
class Scores:
    logits: Tensor
    best: Tensor
    extra: Tensor | None = None


torch.export.register_dataclass(Scores, serialized_type_name="tests.torch.models.Scores")

_ROW = {0: DYNAMIC}


@model(sequence(4), BATCH_AND_LENGTH)
class DataclassOut(nn.Module):
    def forward(self, x: Tensor) -> Scores:
        return Scores(x.log_softmax(-1), x.argmax(-1))


@model(
    lambda batch, length: (
        {"a": torch.randn(batch, 3), "b": [torch.randn(batch, 3), torch.randn(batch, 1)]},
    ),
    ({"a": _ROW, "b": [_ROW, _ROW]},),
)
class DictInDictOut(nn.Module):
    def forward(self, inputs: dict[str, Any]) -> dict[str, Any]:
        first, second = inputs["b"]
        return {"sum": inputs["a"] + first, "parts": (second * 2, [inputs["a"] > 0])}


@model(
    lambda batch, length: {"x": torch.randn(batch, 3), "scale": torch.tensor(2.0), "mask": None},
    {"x": _ROW, "scale": None, "mask": None},
)
class OptionalArguments(nn.Module):
    def forward(self, x: Tensor, scale: Tensor | None = None, mask: Tensor | None = None) -> tuple[Any, ...]:
        y = x if scale is None else x * scale
        return y if mask is None else y * mask, None


@model(sequence(4), BATCH_AND_LENGTH)
class IntAmongOutputs(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int, int]:
        return x.relu(), x.shape[1], x.shape[0] * 2 + 1


@model(sequence(6), BATCH_AND_LENGTH)
class ChunkOfDynamic(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=1)
        return first.sum(1) - second.amax(1)


@model(sequence(6), BATCH_AND_LENGTH)
class InPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 0] = 0.0
        y[..., 1:3].mul_(2).add_(1)
        y.masked_fill_(y > 1.5, -1.0)
        y.transpose(0, 1)[-1].copy_(x[:, 0])
        return y.clamp_(-2, 2)


@model(sequence(6), BATCH_AND_LENGTH)
class Indexing(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        rows = torch.arange(x.shape[0])
        last = torch.full_like(rows, x.shape[1] - 1)
        order = x[:, :, 0].argsort(dim=1, descending=True)
        put = x.index_put((rows, last), torch.ones(6), accumulate=True)
        return (
            x[rows, last],
            x[:, ::2, [0, 2]],
            x.gather(1, order[..., None].expand_as(x)),
            put,
            x[..., None, 1],
        )


@model(lambda batch, length: (torch.randint(0, 12, (batch, length)),), BATCH_AND_LENGTH)
class TiedWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(12, 8, padding_idx=0)
        self.head = nn.Linear(8, 12, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.embedding(words).tanh())


@model(sequence(6), BATCH_AND_LENGTH)
class SymbolicSizes(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        batch, length, _ = x.shape
        half = (length + 1) // 2
        tiled = x[:, :half].repeat(1, 2, 1).view(batch, -1, 3)
        noise = torch.ones(batch, length % 3 + 1).sum() * (length / 4) ** 0.5
        return tiled, noise, x.new_full((length, batch), 3.0), torch.linspace(0, 1, 5) * (half - length)


@model(sequence(6), BATCH_AND_LENGTH)
class Stateful(nn.Module):
    """A buffer that the model writes to: torch says that its new value is an output of the program."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("offset", torch.arange(6.0))
        self.register_buffer("scale", torch.tensor(3), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.offset) * self.scale


@model(sequence(6), BATCH_AND_LENGTH)
class Padding(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (
            F.pad(x, (1, 2, -1, 3), value=0.5),
            F.pad(x, (2, 2), mode="circular"),
            F.pad(x, (2, 1), mode="replicate"),
            F.pad(x, (1, 2), mode="reflect"),
        )
