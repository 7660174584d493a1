"""Tensors that are made of sizes, numbers and steps."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.arange(6.0).reshape(2, 3)
FUNCTIONS: dict[str, Any] = {
    "zeros": lambda x: torch.zeros(2, 3) + x,
    "ones of whole numbers": lambda x: torch.ones(2, 3, dtype=torch.int64) + x,
    "full": lambda x: torch.full((2, 3), 7) + x,
    "full of truth": lambda x: torch.full((2, 3), True) & (x > 1),
    "zeros_like": lambda x: torch.zeros_like(x),
    "ones_like in another type": lambda x: torch.ones_like(x, dtype=torch.int32),
    "full_like": lambda x: torch.full_like(x, 2.5),
    "new_zeros": lambda x: x.new_zeros(3),
    "new_ones": lambda x: x.new_ones(x.shape[1]),
    "new_full": lambda x: x.new_full((2,), 3),
    "arange": lambda x: torch.arange(x.shape[1]) + x,
    "arange, steps": lambda x: torch.arange(1, 10, 3) + x,
    "arange backwards": lambda x: torch.arange(5.0, 0.5, -1.5) + x,
    "linspace": lambda x: torch.linspace(0, 1, 3) + x,
    "linspace of one": lambda x: torch.linspace(2, 5, 1) + x,
    "linspace of whole numbers": lambda x: torch.linspace(0.9, 10.7, 3, dtype=torch.int64) + x,
    "linspace of half precision": lambda x: torch.linspace(0, 1, 3, dtype=torch.float16) + x.half(),
    "logspace": lambda x: torch.logspace(0, 2, 3) + x,
    "logspace of another base": lambda x: torch.logspace(0, 3, 3, base=2.0) + x,
    "eye": lambda x: torch.eye(2, 3) + x,
    "eye of one size": lambda x: torch.eye(3)[:2] + x,
    "tril_indices": lambda x: torch.tril_indices(2, 3)[0] + x[0, 0],
    "triu_indices": lambda x: torch.triu_indices(3, 3, 1)[1] + x[0, 0],
    "scalar_tensor": lambda x: torch.scalar_tensor(2.5) + x,
    "hann_window": lambda x: torch.hann_window(3) + x,
    "empty_like": lambda x: torch.empty_like(x) * 0 + x,
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)
