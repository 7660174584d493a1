"""Embeddings, and bags of them."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

TABLE = torch.linspace(-1, 2, 20).reshape(5, 4).sin()
INDEX = torch.tensor([[0, 3, 1], [4, 4, 2]])
OFFSETS = torch.tensor([0, 2, 2, 6])

FUNCTIONS: dict[str, Any] = {
    "embedding": lambda t, i, o: F.embedding(i, t),
    "embedding, padding": lambda t, i, o: F.embedding(i, t, padding_idx=-1),
    "embedding of a number": lambda t, i, o: F.embedding(i[0, 1], t),
    **{
        f"bag {mode} {last} {padding}": lambda t, i, o, mode=mode, last=last, padding=padding: (
            F.embedding_bag(i.flatten(), t, o, mode=mode, include_last_offset=last, padding_idx=padding)
        )
        for mode in ("sum", "mean", "max")
        for last in (False, True)
        for padding in (None, 4)
    },
    **{
        f"rows {mode}": lambda t, i, o, mode=mode: F.embedding_bag(i, t, mode=mode)
        for mode in ("sum", "mean", "max")
    },
    "weights": lambda t, i, o: F.embedding_bag(i, t, mode="sum", per_sample_weights=t[:2, :3]),
    "weights, padding": lambda t, i, o: F.embedding_bag(
        i.flatten(), t, o, mode="sum", per_sample_weights=t.flatten()[:6], padding_idx=4
    ),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, TABLE, INDEX, OFFSETS)
