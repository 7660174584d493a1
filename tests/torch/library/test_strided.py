"""Diagonals, windows, and tensors that are read by strides."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.arange(24.0).reshape(2, 3, 4)
aten = torch.ops.aten

FUNCTIONS: dict[str, Any] = {
    **{
        f"diagonal {offset} {dims}": lambda x, offset=offset, dims=dims: x.diagonal(offset, *dims)
        for offset in (0, 1, -1, 3, -2)
        for dims in ((0, 1), (2, 1), (-1, 0))
    },
    "diagonal_copy": lambda x: aten.diagonal_copy.default(x, 1, 1, 2),
    "linalg.diagonal": lambda x: torch.linalg.diagonal(x, offset=-1),
    "diagonal_scatter": lambda x: torch.diagonal_scatter(x, -x[0, :, :2], 0, 0, 2),
    "diagonal_scatter, above": lambda x: torch.diagonal_scatter(x[0], x[0, 0, :3] * 0 - 1, 1),
    "diagonal_scatter, below": lambda x: torch.diagonal_scatter(x[0], x[0, 0, :2] * 0 - 1, -1),
    "diag_embed": lambda x: torch.diag_embed(x[0]),
    "diag_embed, above": lambda x: torch.diag_embed(x[0], 2, 0, 1),
    "diag_embed, below": lambda x: torch.diag_embed(x, -1, 1, 3),
    "diag of a vector": lambda x: torch.diag(x[0, 0], 1),
    "diag of a matrix": lambda x: torch.diag(x[0], -1),
    "trace": lambda x: x[1].trace(),
    "trace of integers": lambda x: x[1].int().trace(),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "unfold, step": lambda x: x.unfold(1, 2, 2),
    "unfold, first": lambda x: aten.unfold_copy.default(x, 0, 1, 1),
    "as_strided": lambda x: torch.as_strided(x, (2, 3), (4, 2), 1),
    "as_strided, overlapping": lambda x: aten.as_strided_copy.default(x, (3, 3), (1, 1), 2),
    "as_strided, one element": lambda x: torch.as_strided(x, (), (), 5),
    "as_strided_scatter": lambda x: torch.as_strided_scatter(x, -x[0, :2, :3], (2, 3), (12, 2), 1),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


def test_windows_and_diagonals_of_any_size() -> None:
    names = (
        "diagonal 0 (0, 1)",
        "diagonal 1 (2, 1)",
        "diagonal -1 (-1, 0)",
        "unfold",
        "unfold, step",
        "diag_embed",
    )
    agree({name: FUNCTIONS[name] for name in names}, X, other=(torch.arange(40.0).reshape(2, 5, 4),))
