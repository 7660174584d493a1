"""Triangular systems, and systems by Cholesky's factors."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor(
    [
        [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 0.5, 1.5]],
        [[1.0, 0.0, 0.0], [2.0, -2.0, 0.0], [0.5, 1.0, 4.0]],
    ]
)
B = torch.tensor([[[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]]).repeat(2, 1, 1)
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated in favor of:UserWarning")

FUNCTIONS: dict[str, Any] = {
    **{
        f"solve_triangular {upper} {left} {unit}": lambda a, b, upper=upper, left=left, unit=unit: (
            torch.linalg.solve_triangular(
                a.mT if upper else a, b if left else b.mT, upper=upper, left=left, unitriangular=unit
            )
        )
        for upper in (False, True)
        for left in (False, True)
        for unit in (False, True)
    },
    "broadcast": lambda a, b: torch.linalg.solve_triangular(a, b[:1], upper=False),
    "triangular_solve": lambda a, b: torch.triangular_solve(b, a.mT),
    "triangular_solve, lower": lambda a, b: torch.triangular_solve(b, a, upper=False).solution,
    "triangular_solve, transposed": lambda a, b: torch.triangular_solve(b, a.mT, transpose=True).solution,
    "triangular_solve, unit": lambda a, b: torch.triangular_solve(b, a.mT, unitriangular=True).solution,
    "cholesky_solve": lambda a, b: torch.cholesky_solve(b, a.abs()),
    "cholesky_solve, upper": lambda a, b: torch.cholesky_solve(b, a.abs().mT, upper=True),
    "cholesky_inverse": lambda a, b: torch.cholesky_inverse(a.abs()),
    "cholesky_inverse, upper": lambda a, b: torch.cholesky_inverse(a.abs().mT, upper=True),
    "cholesky": lambda a, b: torch.linalg.cholesky(a @ a.mT),
    "cholesky, upper": lambda a, b: torch.linalg.cholesky(a @ a.mT, upper=True),
    "cholesky, old": lambda a, b: torch.cholesky(a @ a.mT, upper=True),
    "cholesky_ex": lambda a, b: torch.linalg.cholesky_ex(a @ a.mT),
    "cholesky_ex that fails": lambda a, b: torch.linalg.cholesky_ex(-a @ a.mT).info,
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, A, B)


def test_complex_numbers() -> None:
    real = torch.view_as_real
    functions: dict[str, Any] = {
        "solve": lambda a, b: real(
            torch.linalg.solve_triangular(torch.complex(a, a), torch.complex(b, -b), upper=False)
        ),
        "right": lambda a, b: real(
            torch.linalg.solve_triangular(
                torch.complex(a, a).mT, torch.complex(b, -b).mT, upper=True, left=False
            )
        ),
        "cholesky": lambda a, b: real(
            torch.linalg.cholesky(torch.complex(a, a / 2) @ torch.complex(a, a / 2).mH)
        ),
    }
    agree(functions, A, B)
