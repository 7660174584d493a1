"""Models with control flow and with sizes that depend on the data."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch._higher_order_ops import map as map_over
from torch._higher_order_ops import scan, while_loop

from tests.torch.models.catalogue import BATCH, BATCH_AND_LENGTH, model, sequence


@model(sequence(4), BATCH_AND_LENGTH)
class Cond(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda y: self.one(y).relu(), lambda y: self.other(y) - 1, (x,))


@model(sequence(4), BATCH_AND_LENGTH)
class NestedCond(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = x.sum()

        def inner(y: Tensor) -> Tensor:
            return torch.cond(total > 5, lambda z: z * 2, lambda z: z + total, (y,))

        return torch.cond(total > 0, inner, lambda y: y.neg(), (x,))


@model(sequence(4), BATCH_AND_LENGTH)
class WhileLoop(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        def goes_on(step: Tensor, y: Tensor) -> Tensor:
            return (step < 10) & (y.abs().max() < 50)

        return while_loop(goes_on, lambda step, y: (step + 1, y * 1.5 + x.mean()), (torch.tensor(0), x))


@model(sequence(4), BATCH_AND_LENGTH)
class Scan(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            state = torch.tanh(self.mix(state) + row)
            return state, state * 2

        return scan(step, torch.zeros_like(x[:, 0]), x, dim=1)


@model(sequence(4), BATCH_AND_LENGTH)
class MapOverRows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return map_over(lambda row, other: row.cumsum(0) + other, x, x.mean(0))


@model(sequence(4), BATCH_AND_LENGTH)
class NonzeroRows(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        places = (x > 0).nonzero()
        return places, x[x > 0].sum() + places.shape[0]


@model(lambda batch, length: (torch.randint(0, 5, (batch * length,)),), BATCH)
class Uniques(nn.Module):
    def forward(self, numbers: Tensor) -> tuple[Tensor, ...]:
        return torch.unique(numbers, return_inverse=True, return_counts=True)


@model(lambda batch, length: (torch.randn(batch, 6), torch.tensor(3)), ({0: BATCH[0][0]}, None))
class SizeFromData(nn.Module):
    def forward(self, x: Tensor, count: Tensor) -> Tensor:
        size = count.item()
        torch._check(size >= 1)
        torch._check(size <= 6)
        return x.narrow(1, 0, size).sum(1) + torch.ones(size).sum()
