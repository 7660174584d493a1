"""Shapes and places: what reshapes, cuts, joins, repeats and turns."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.arange(24.0).reshape(2, 3, 4)
FUNCTIONS: dict[str, Any] = {
    "view": lambda x: x.view(6, 4),
    "reshape": lambda x: x.reshape(-1, 2),
    "reshape_as": lambda x: x.reshape_as(torch.zeros(4, 6)),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "ravel": lambda x: x.ravel(),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, -1),
    "movedim": lambda x: x.movedim(0, 2),
    "swapaxes": lambda x: x.swapaxes(1, 2),
    "t": lambda x: x[0].t(),
    "mT": lambda x: x.mT,
    "squeeze": lambda x: x[:1].squeeze(),
    "squeeze of one": lambda x: x[:1].squeeze(0),
    "squeeze of what is not one": lambda x: x.squeeze(1),
    "squeeze of several": lambda x: x[:1, :1].squeeze((0, 1)),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "expand": lambda x: x[:1].expand(5, -1, 4),
    "expand_as": lambda x: x[:1].expand_as(x),
    "broadcast_to": lambda x: torch.broadcast_to(x[0], (2, 3, 4)),
    "slices": lambda x: x[:, 1:, ::3],
    "slice from the end": lambda x: x[..., -3:-1],
    "narrow": lambda x: x.narrow(2, 1, 2),
    "select": lambda x: x.select(1, -1),
    "cat": lambda x: torch.cat([x, x + 1], 1),
    "cat of types": lambda x: torch.cat([x, x.to(torch.int64)], -1),
    "stack": lambda x: torch.stack([x, x * 2], -1),
    "split": lambda x: x.split(2, 2),
    "split with a rest": lambda x: x.split(2, 1),
    "split by sizes": lambda x: x.split([1, 3], 2),
    "chunk": lambda x: x.chunk(3, 2),
    "tensor_split": lambda x: x.tensor_split((1, 2), 2),
    "tensor_split by a number": lambda x: x.tensor_split(3, 2),
    "unbind": lambda x: x.unbind(1),
    "repeat": lambda x: x.repeat(2, 1, 1, 3),
    "tile": lambda x: x.tile(2, 1),
    "roll": lambda x: x.roll(1, 2),
    "roll of all": lambda x: x.roll(5),
    "roll of several": lambda x: x.roll((1, -1), (1, 2)),
    "flip": lambda x: x.flip(0, 2),
    "rot90": lambda x: x.rot90(1, (1, 2)),
}

#: Those whose results do not depend on the first size being two.
DYNAMIC = {
    name: function
    for name, function in FUNCTIONS.items()
    if name not in {"view", "reshape_as", "broadcast_to", "expand_as"}
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


def test_functions_of_dynamic_sizes_are_those_of_torch() -> None:
    agree(DYNAMIC, X, other=(torch.arange(60.0).reshape(5, 3, 4),))
