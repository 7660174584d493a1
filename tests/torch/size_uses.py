"""Sixty ways in which a module reads the size of its input, one entry each.

The list was fixed before the exporter was changed for them, and none was exchanged afterwards. The rule: each
attribute, method and builtin that gives a size, each function of Python, `math` and numpy that takes a number, each
constructor, change of shape, broadcast and piece of torch's that takes a size, and each way in which code decides by
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def rows(count: int) -> Any:
    """A matrix of so many rows, no two elements alike."""
    return torch.arange(1.0, 3 * count + 1).reshape(count, 3).cos()


def one(count: int) -> tuple[Any, ...]:
    return (rows(count),)


def beside(other: int) -> Callable[[int], tuple[Any, ...]]:
    """The rows, and a matrix of another, fixed size."""
    return lambda count: (rows(count), rows(other) + 1)


def twice(count: int) -> tuple[Any, ...]:
    """Two matrices of the same number of rows."""
    return rows(count), rows(count) + 1


def batches(count: int) -> tuple[Any, ...]:
    """Matrices to multiply in a batch; the other batch is of five."""
    return rows(count)[:, None, :].expand(count, 2, 3) + 1, torch.arange(60.0).reshape(5, 3, 4).cos()


@dataclass(frozen=True)
class Use:
    """One use: the function of a module's `forward`, and its arguments for a size."""

    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]] = one
    #: The dynamic dimension of each argument; "" for none.
    names: tuple[str, ...] = ("n",)

    def module(self) -> nn.Module:
        """The module that uses a size so."""
        return Using(self.function)

    def dynamic_shapes(self) -> dict[str, Any]:
        """As `export` takes it."""
        return {"args": tuple({0: each} if each else None for each in self.names)}


class Using(nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.table = nn.Embedding(32, 3)
        with torch.no_grad():
            self.table.weight.copy_(rows(32))

    def forward(self, *args: Any) -> Any:
        takes_module = self.function.__code__.co_varnames[0] == "self"
        return self.function(self, *args) if takes_module else self.function(*args)


def _doubled(x: Any) -> Any:
    count = 1
    while count < x.shape[0]:
        count = count * 2
    return x * count


def _branch(x: Any) -> Any:
    if x.shape[0] > 4:
        return x * 2
    return x + 1


def _unpacked(x: Any) -> Any:
    count, width = x.shape
    return x * count + width


def _checked(x: Any) -> Any:
    torch._check(x.shape[0] < 100)
    assert isinstance(x.shape[0], int | torch.SymInt)
    return x + x.shape[0]


def _causal(x: Any) -> Any:
    heads = x[None, None]
    return F.scaled_dot_product_attention(heads, heads, heads, is_causal=x.shape[0] > 1)


def _masked(x: Any) -> Any:
    count = x.shape[0]
    mask = torch.ones(count, count, dtype=torch.bool).tril()
    return (x @ x.T).masked_fill(~mask, -1e9).softmax(-1) @ x


#: The uses by name.
USES: dict[str, Use] = {
    # -- reading it -------------------------------------------------------------------------------------
    "shape": Use(lambda x: x * x.shape[0]),
    "size": Use(lambda x: x * x.size(0) + x.size()[0]),
    "len": Use(lambda x: x * len(x)),
    "numel": Use(lambda x: x * x.numel()),
    "unpacked": Use(_unpacked),
    "prod of the shape": Use(lambda x: x * math.prod(x.shape)),
    "sum of the shape": Use(lambda x: x * sum(x.shape)),
    # -- as a number of Python's ------------------------------------------------------------------------
    "float": Use(lambda x: x * float(x.shape[0])),
    "int": Use(lambda x: x * int(x.shape[0] / 2)),
    "true division": Use(lambda x: x.sum(0) / (x.shape[0] + 1)),
    "floor division and remainder": Use(lambda x: x * (x.shape[0] // 2) + x.shape[0] % 3),
    "divmod": Use(lambda x: x * divmod(x.shape[0], 2)[0] + divmod(x.shape[0], 2)[1]),
    "power": Use(lambda x: x * x.shape[0] ** 2),
    "shift": Use(lambda x: x * (x.shape[0] << 1)),
    "math.sqrt": Use(lambda x: x / (1 + math.sqrt(x.shape[0]))),
    "np.sqrt": Use(lambda x: x / (1 + np.sqrt(x.shape[0]))),
    "math.log": Use(lambda x: x * math.log(x.shape[0] + 1)),
    "math.ceil and floor": Use(lambda x: x * math.ceil(x.shape[0] / 2) + math.floor(x.shape[0] / 3)),
    "round": Use(lambda x: x * round(x.shape[0] / 3)),
    "max": Use(lambda x: x * max(x.shape[0], 4)),
    "min": Use(lambda x: x[: min(x.shape[0], 4)]),
    "abs": Use(lambda x: x * abs(x.shape[0] - 4)),
    "torch.tensor": Use(lambda x: x * torch.tensor(x.shape[0])),
    # -- to make a tensor -------------------------------------------------------------------------------
    "arange": Use(lambda x: x + torch.arange(x.shape[0])[:, None]),
    "zeros": Use(lambda x: torch.cat([x, torch.zeros(x.shape[0], 3)])),
    "full": Use(lambda x: x + torch.full((len(x), 1), 2.0)),
    "new_ones": Use(lambda x: x + x.new_ones(x.shape)),
    "full_like": Use(lambda x: x + torch.full_like(x, x.shape[0])),
    "eye": Use(lambda x: torch.eye(x.shape[0]) @ x),
    "linspace": Use(lambda x: x * torch.linspace(0, 1, x.shape[0])[:, None]),
    "one_hot": Use(lambda x: F.one_hot(torch.arange(x.shape[0]), x.shape[0]) @ x.long()),
    "embedding of positions": Use(lambda self, x: x + self.table(torch.arange(x.shape[0]))),
    "slice of a table": Use(lambda self, x: x + self.table.weight[: x.shape[0]]),
    # -- to change a shape ------------------------------------------------------------------------------
    "reshape": Use(lambda x: x.reshape(x.shape[0] * 3)),
    "view": Use(lambda x: x.view(x.shape[0], -1, 1)),
    "flatten": Use(lambda x: x.flatten() * 2),
    "squeeze": Use(lambda x: x.squeeze() + 1),
    "squeeze(0)": Use(lambda x: x.squeeze(0) * 2),
    "expand": Use(lambda x, y: y[:1].expand(x.shape[0], 3) * x, beside(2), ("n", "")),
    "expand_as": Use(lambda x: x.sum(0, keepdim=True).expand_as(x)),
    "repeat": Use(lambda x: x.sum(0, keepdim=True).repeat(x.shape[0], 2)),
    "pad": Use(lambda x: F.pad(x, (0, 0, 0, x.shape[0]))),
    "unfold": Use(lambda x: x.T.unfold(1, 1, 1)),
    # -- to take a part ---------------------------------------------------------------------------------
    "half": Use(lambda x: x[x.shape[0] // 2 :]),
    "all but the last": Use(lambda x: x[: x.shape[0] - 1]),
    "roll": Use(lambda x: x.roll(x.shape[0] // 2, 0)),
    "narrow": Use(lambda x: x.narrow(0, 0, x.shape[0] // 2)),
    "topk": Use(lambda x: x.topk(min(x.shape[0], 3), 0).values),
    # -- implicitly, by other sizes ---------------------------------------------------------------------
    "broadcast of two": Use(lambda x, y: x + y, beside(5), ("n", "")),
    "broadcast of two names": Use(lambda x, y: x * 2 + y, lambda n: (rows(n), rows(1)), ("n", "m")),
    "batched matmul": Use(lambda x, y: x @ y, batches, ("n", "")),
    "causal attention": Use(_causal),
    "mask": Use(_masked),
    "resize": Use(lambda x: F.interpolate(x.T[None], size=2 * x.shape[0])),
    # -- to decide --------------------------------------------------------------------------------------
    "check": Use(_checked),
    "branch": Use(_branch),
    "while": Use(_doubled),
    "pieces": Use(lambda x: torch.stack([each.mean(0) for each in x.split(2)]).sum(0)),
    "rows in a loop": Use(lambda x: sum((row * k for k, row in enumerate(x)), torch.zeros(3))),
    "chunk": Use(lambda x: torch.cat([each.sum(0, keepdim=True) for each in x.chunk(2)])),
}
