"""Eigenvalues of symmetric matrices, singular values, ranks and pseudo-inverses."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor(
    [[2.0, 1.0, 0.0, -1.0], [1.0, 3.0, 0.5, 0.25], [0.0, 0.5, -1.0, 2.0], [-1.0, 0.25, 2.0, 0.5]]
)
B = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0], [1.5, 1.0, 5.0]])


def rebuilt(parts: Any) -> Any:
    return (parts[0] * parts[1]) @ parts[2]


FUNCTIONS: dict[str, Any] = {
    "eigvalsh": lambda a, b: torch.linalg.eigvalsh(a),
    "eigvalsh, upper": lambda a, b: torch.linalg.eigvalsh(a.triu(), UPLO="U"),
    "eigvalsh, lower": lambda a, b: torch.linalg.eigvalsh(a.tril()),
    "eigh, values": lambda a, b: torch.linalg.eigh(a)[0],
    "eigh, vectors": lambda a, b: rebuilt(
        (torch.linalg.eigh(a)[1], torch.linalg.eigh(a)[0], torch.linalg.eigh(a)[1].T)
    ),
    "eigh, upper": lambda a, b: torch.linalg.eigh(a.triu(), UPLO="U")[0],
    "svdvals": lambda a, b: torch.linalg.svdvals(b),
    "svdvals of rows": lambda a, b: torch.linalg.svdvals(b.T),
    "svd": lambda a, b: rebuilt(torch.linalg.svd(b, full_matrices=False)),
    "svd, shapes": lambda a, b: [each.abs() * 0 for each in torch.linalg.svd(b)],
    "svd, values": lambda a, b: torch.linalg.svd(b)[1],
    "svd, old": lambda a, b: (lambda u, s, v: (u * s) @ v.T)(*torch.svd(b)),
    "svd, old, shapes": lambda a, b: [each.abs() * 0 for each in torch.svd(b, some=False)],
    "matrix_rank": lambda a, b: torch.linalg.matrix_rank(b),
    "matrix_rank, symmetric": lambda a, b: torch.linalg.matrix_rank(a, hermitian=True),
    "matrix_rank, atol": lambda a, b: torch.linalg.matrix_rank(b, atol=2.0),
    "matrix_rank, rtol": lambda a, b: torch.linalg.matrix_rank(b, rtol=0.9),
    "matrix_rank, both": lambda a, b: torch.linalg.matrix_rank(b, atol=0.5, rtol=0.9),
    "matrix_rank, old": lambda a, b: torch.linalg.matrix_rank(b, 2.0),
    "matrix_rank, tensor": lambda a, b: torch.linalg.matrix_rank(b, atol=b[2, 0], rtol=b[2, 0]),
    "matrix_rank, old tensor": lambda a, b: torch.linalg.matrix_rank(b, b[0, 1]),
    "pinv": lambda a, b: torch.linalg.pinv(b),
    "pinv, symmetric": lambda a, b: torch.linalg.pinv(a, hermitian=True),
    "pinv, rtol": lambda a, b: torch.linalg.pinv(b, rtol=0.3),
    "pinv, atol": lambda a, b: torch.linalg.pinv(b, atol=2.0),
    "pinv, tensor": lambda a, b: torch.linalg.pinv(b, atol=b[2, 0], rtol=b[2, 0] / 9),
    "pinv, old": lambda a, b: torch.linalg.pinv(b, 0.3),
    "pinv, old tensor": lambda a, b: torch.linalg.pinv(b, b[2, 0]),
    "pinverse": lambda a, b: torch.pinverse(b, 0.3),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, A, B)
