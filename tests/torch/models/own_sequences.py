"""Recurrent models, perceptrons, embeddings and other models of sequences."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.torch.models.catalogue import BATCH, BATCH_AND_LENGTH, DYNAMIC, model, sequence, tokens


@model(lambda batch, length: (torch.randn(batch, 6),), BATCH)
class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, 16),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(16, 16, bias=False),
            nn.SELU(),
            nn.Linear(16, 3),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).softmax(-1)


class Recurrent(nn.Module):
    def __init__(self, kind: str, layers: int, is_bidirectional: bool) -> None:
        super().__init__()
        self.recurrent = getattr(nn, kind)(
            5, 7, num_layers=layers, bidirectional=is_bidirectional, batch_first=True
        )
        self.head = nn.Linear(7 * (1 + is_bidirectional), 3)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y, state = self.recurrent(x)
        return self.head(y), *(state if isinstance(state, tuple) else (state,))


for _kind in ("LSTM", "GRU", "RNN"):
    for _layers, _both in ((1, False), (2, True)):
        _name = f"{_kind.lower()}_{_layers}_layers" + ("_bidirectional" if _both else "")
        model(
            sequence(5),
            BATCH_AND_LENGTH,
            name=_name,
            arguments=(_kind, _layers, _both),
            is_excused_by_torch=False,
        )(Recurrent)


@model(
    lambda batch, length: (torch.randn(length, batch, 5), torch.randn(1, batch, 7), torch.randn(1, batch, 4)),
    ({0: DYNAMIC, 1: DYNAMIC}, {1: DYNAMIC}, {1: DYNAMIC}),
    is_excused_by_torch=False,
)
class LstmWithState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 4, num_layers=1)
        self.enter = nn.Linear(7, 4)

    def forward(self, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return self.lstm(x, (self.enter(hidden), cell))


@model(lambda batch, length: (torch.randn(batch, 4, 5),), BATCH)
class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRUCell(5, 4)
        self.lstm = nn.LSTMCell(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        a, b, c = x.new_zeros(x.shape[0], 4), x.new_zeros(x.shape[0], 3), x.new_zeros(x.shape[0], 3)
        for step in range(4):
            a = self.gru(x[:, step], a)
            b, c = self.lstm(a, (b, c))
        return b


@model(tokens(20), BATCH_AND_LENGTH)
class BagOfWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(20, 6, mode="mean")
        self.best = nn.EmbeddingBag(20, 6, mode="max")

    def forward(self, words: Tensor) -> Tensor:
        return torch.cat([self.bag(words), self.best(words)], -1)


@model(lambda batch, length: (torch.randint(0, 9, (length,)), torch.tensor([0, 2, 5])), ({0: DYNAMIC}, None))
class RaggedBag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(9, 4, mode="sum")

    def forward(self, words: Tensor, starts: Tensor) -> Tensor:
        return self.bag(words, starts)


@model(sequence(8), BATCH_AND_LENGTH)
class TemporalConvolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 16, 3))
        self.old = torch.nn.utils.parametrizations.orthogonal(nn.Linear(8, 8))

    def forward(self, x: Tensor) -> Tensor:
        padded = F.pad(self.old(x).transpose(1, 2), (2, 0))
        return F.glu(self.conv(padded), 1)


@model(sequence(8), BATCH_AND_LENGTH)
class MixtureOfExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.up = nn.Parameter(torch.randn(4, 8, 16) * 0.2)
        self.down = nn.Parameter(torch.randn(4, 16, 8) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, 8)
        weights, chosen = self.router(flat).softmax(-1).topk(2)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(flat)
        mask = F.one_hot(chosen, 4).to(flat.dtype) * weights[..., None]
        for expert in range(4):
            hidden = F.silu(flat @ self.up[expert]) @ self.down[expert]
            result = result + hidden * mask[:, :, expert].sum(1, keepdim=True)
        return result.view_as(x)


@model(sequence(8), BATCH_AND_LENGTH)
class SparseMixtureOfExperts(nn.Module):
    """Each expert gets its own tokens only: sizes that depend on the data."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 3)
        self.experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, 8)
        best = self.router(flat).argmax(-1)
        result = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            places = torch.nonzero(best == number).squeeze(-1)
            result = result.index_add(0, places, expert(flat.index_select(0, places)))
        return result.view_as(x)


@model(sequence(6), BATCH_AND_LENGTH)
class StateSpace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.decay = nn.Parameter(torch.rand(6))

    def forward(self, x: Tensor) -> Tensor:
        steps = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)
        logs = -F.softplus(self.decay)[None] * steps[:, None]
        weighted = (x * torch.exp(-logs)).cumsum(1) * torch.exp(logs)
        return weighted - x.cumsum(1).flip(1).roll(1, 1)


@model(sequence(8), BATCH_AND_LENGTH)
class NormsAndGates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rms = nn.RMSNorm(8)
        self.layer = nn.LayerNorm(8, bias=False)
        self.bilinear = nn.Bilinear(8, 8, 4)

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.rms(x), self.layer(x)
        return self.bilinear(F.normalize(a, dim=-1), b) + F.cosine_similarity(a, b, -1)[..., None]


@model(
    lambda batch, length: (torch.randn(batch, length, 5), torch.randint(0, 5, (batch, length))),
    ({0: DYNAMIC, 1: DYNAMIC}, {0: DYNAMIC, 1: DYNAMIC}),
)
class Losses(nn.Module):
    def forward(self, x: Tensor, wanted: Tensor) -> tuple[Tensor, ...]:
        flat, target = x.flatten(0, 1), wanted.flatten()
        return (
            F.cross_entropy(flat, target, label_smoothing=0.1),
            F.cross_entropy(flat, target, ignore_index=2, reduction="sum"),
            F.binary_cross_entropy_with_logits(flat, F.one_hot(target, 5).float()),
            F.huber_loss(flat, flat.flip(-1), reduction="none"),
            F.kl_div(flat.log_softmax(-1), flat.flip(0).softmax(-1), reduction="batchmean"),
        )
