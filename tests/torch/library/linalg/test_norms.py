"""Norms of vectors and matrices by every order, and condition numbers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.tensor([[[1.0, -2.0, 0.0], [3.0, 0.5, -1.0]], [[0.0, 2.0, -4.0], [1.5, -3.0, 2.5]]])
SQUARE = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0], [-1.0, 1.0, 4.0]])
INFINITY = float("inf")

VECTORS: dict[str, Any] = {
    **{
        f"vector_norm {order}": lambda x, s, order=order: torch.linalg.vector_norm(x, order, dim=(0, 2))
        for order in (0, 1, 2, 3, 0.5, -1, INFINITY, -INFINITY)
    },
    "all": lambda x, s: torch.linalg.vector_norm(x),
    "kept": lambda x, s: torch.linalg.vector_norm(x, 3, dim=1, keepdim=True),
    "all kept": lambda x, s: torch.linalg.vector_norm(x, 1, keepdim=True),
    "dtype": lambda x, s: torch.linalg.vector_norm(x, dim=1, dtype=torch.float64),
    "norm": lambda x, s: torch.norm(x),
    "norm, dim": lambda x, s: torch.norm(x, 1, 2, True),
    "norm, dtype": lambda x, s: torch.ops.aten.norm.ScalarOpt_dtype(x, 2, dtype=torch.float64),
    "norm, dim, dtype": lambda x, s: torch.ops.aten.norm.ScalarOpt_dim_dtype(
        x, None, [1], False, dtype=torch.float64
    ),
    "frobenius": lambda x, s: torch.ops.aten.frobenius_norm.dim(x, [1, 2], True),
    "frobenius, all": lambda x, s: torch.ops.aten.frobenius_norm.dim(x, []),
    **{
        f"dist {order}": lambda x, s, order=order: torch.dist(x[0], x[1], order)
        for order in (0, 1, 2, 3, INFINITY)
    },
}
MATRICES: dict[str, Any] = {
    **{
        f"matrix_norm {order}": lambda x, s, order=order: torch.linalg.matrix_norm(x, order)
        for order in ("fro", "nuc", 1, -1, 2, -2, INFINITY, -INFINITY)
    },
    "dims": lambda x, s: torch.linalg.matrix_norm(x, 1, dim=(2, 0), keepdim=True),
    "dims, 2": lambda x, s: torch.linalg.matrix_norm(x, 2, dim=(0, 2), keepdim=True),
    "norm": lambda x, s: torch.linalg.norm(x),
    "norm of a matrix": lambda x, s: torch.linalg.norm(x[0], 1),
    "norm of a vector": lambda x, s: torch.linalg.norm(x[0, 0], 1),
    "norm, dim": lambda x, s: torch.linalg.norm(x, INFINITY, dim=(0, 1)),
    "norm, word": lambda x, s: torch.linalg.norm(x, "nuc", dim=(1, 2), keepdim=True),
    "nuclear": lambda x, s: torch.ops.aten.nuclear_norm.default(x[0]),
    "nuclear, dim": lambda x, s: torch.ops.aten.nuclear_norm.dim(x, [0, 2], True),
    **{
        f"cond {order}": lambda x, s, order=order: torch.linalg.cond(s, order)
        for order in (None, 2, -2, 1, -1, INFINITY, -INFINITY, "fro", "nuc")
    },
    "cond of rows": lambda x, s: torch.linalg.cond(x),
}


@pytest.mark.parametrize("functions", [VECTORS, MATRICES])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, SQUARE)


def test_norms_of_complex_numbers() -> None:
    functions: dict[str, Any] = {
        "vector": lambda x, s: torch.linalg.vector_norm(torch.complex(x, x.flip(2)), 3, dim=1),
        "frobenius": lambda x, s: torch.linalg.norm(torch.complex(x, x.flip(2)), "fro", dim=(1, 2)),
        "dist": lambda x, s: torch.dist(torch.complex(x[0], x[1]), torch.complex(x[1], x[1])),
        "cond": lambda x, s: torch.linalg.cond(torch.complex(s, s.T)),
    }
    agree(functions, X, SQUARE)
