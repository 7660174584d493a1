"""Powers, exponentials and products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor([[[0.5, -0.25], [1.0, 0.75]], [[-1.0, 2.0], [0.0, 0.5]]])
V = torch.tensor([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]])

FUNCTIONS: dict[str, Any] = {
    "matrix_exp": lambda a, v: torch.matrix_exp(a),
    "matrix_exp, far": lambda a, v: torch.linalg.matrix_exp(a * 6),
    "matrix_exp, complex": lambda a, v: torch.view_as_real(torch.matrix_exp(torch.complex(a, a.mT))),
    "matrix_exp of 1": lambda a, v: torch.matrix_exp(a[:, :1, :1]),
    **{
        f"matrix_power {n}": lambda a, v, n=n: torch.linalg.matrix_power(a, n)
        for n in (0, 1, 2, 3, 5, -1, -3)
    },
    "matrix_power, old": lambda a, v: torch.matrix_power(a, 4),
    "matrix_power, complex": lambda a, v: torch.view_as_real(torch.matrix_power(torch.complex(a, a.mT), 3)),
    "vecdot": lambda a, v: torch.linalg.vecdot(v, v.flip(0)),
    "vecdot, dim": lambda a, v: torch.linalg.vecdot(v, v[:1] + 1, dim=0),
    "vdot": lambda a, v: torch.vdot(v[0], v[1]),
    "vdot, complex": lambda a, v: torch.view_as_real(
        torch.vdot(torch.complex(v[0], v[1]), torch.complex(v[1], v[1]))
    ),
    "cross": lambda a, v: torch.linalg.cross(v, v.flip(0)),
    "cross, dim": lambda a, v: torch.linalg.cross(v.T, v.flip(0).T, dim=0),
    "cross, broadcast": lambda a, v: torch.linalg.cross(v, v[:1] + 1),
    "cross, old": lambda a, v: torch.cross(v.T, v.T.flip(1), dim=0),
    "vander": lambda a, v: torch.linalg.vander(v),
    "vander, N": lambda a, v: torch.linalg.vander(v, N=5),
    "vander, old": lambda a, v: torch.vander(v[0]),
    "vander, old, N": lambda a, v: torch.vander(v[0], 2, increasing=True),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, A, V)
