"""LU factors, and what is computed by them: systems of equations, inverses and determinants."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor(
    [
        [[0.0, 2.0, 1.0], [1.0, -1.0, 3.0], [4.0, 0.5, 2.0]],
        [[2.0, 1.0, 0.0], [-3.0, 1.0, 1.0], [1.0, 5.0, 4.0]],
    ]
)
B = torch.tensor([[[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]]).repeat(2, 1, 1)
aten = torch.ops.aten
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated in favor of:UserWarning")

FACTORS: dict[str, Any] = {
    "lu_factor_ex": lambda a, b: torch.linalg.lu_factor_ex(a),
    "lu_factor": lambda a, b: torch.linalg.lu_factor(a),
    "lu_factor of rows": lambda a, b: torch.linalg.lu_factor(b),
    "lu_factor of columns": lambda a, b: torch.linalg.lu_factor(b.mT),
    "lu_with_info": lambda a, b: aten._lu_with_info.default(a),
    "lu": lambda a, b: torch.linalg.lu(a),
    "lu of rows": lambda a, b: torch.linalg.lu(b),
    "lu of columns": lambda a, b: torch.linalg.lu(b.mT),
    "lu_unpack": lambda a, b: torch.lu_unpack(*torch.linalg.lu_factor(a)),
    "lu_unpack of columns": lambda a, b: torch.lu_unpack(*torch.linalg.lu_factor(b.mT)),
    "lu_unpack, data": lambda a, b: torch.lu_unpack(*torch.linalg.lu_factor(a), unpack_pivots=False),
    "lu_unpack, pivots": lambda a, b: torch.lu_unpack(*torch.linalg.lu_factor(a), unpack_data=False),
}
SYSTEMS: dict[str, Any] = {
    "solve": lambda a, b: torch.linalg.solve(a, b),
    "solve, right": lambda a, b: torch.linalg.solve(a, b.mT, left=False),
    "solve, vectors": lambda a, b: torch.linalg.solve(a, b[..., 0]),
    "solve, broadcast": lambda a, b: torch.linalg.solve(a, b[0]),
    "solve_ex": lambda a, b: torch.linalg.solve_ex(a, b),
    "solve_ex, right": lambda a, b: torch.linalg.solve_ex(a, b.mT, left=False),
    # How torch factors depends on the strides of a matrix: what is solved by the factors does not.
    "all of solve_ex": lambda a, b: aten._linalg_solve_ex.default(a, b)[::3],
    "lu_solve": lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b),
    "lu_solve, right": lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b.mT, left=False),
    "lu_solve, adjoint": lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=True),
    "lu_solve, old": lambda a, b: torch.lu_solve(b, *torch.linalg.lu_factor(a)),
    "tensorsolve": lambda a, b: torch.linalg.tensorsolve(a[0].reshape(3, 3, 1), b[0, :, 0]),
    "tensorsolve, dims": lambda a, b: torch.linalg.tensorsolve(a[0].reshape(3, 3, 1), b[0, :, 0], dims=(1,)),
}
INVERSES: dict[str, Any] = {
    "inv": lambda a, b: torch.linalg.inv(a),
    "inv_ex": lambda a, b: torch.linalg.inv_ex(a),
    "inverse": lambda a, b: torch.inverse(a[0]),
    "tensorinv": lambda a, b: torch.linalg.tensorinv(a[0].reshape(3, 3, 1), ind=1),
    "det": lambda a, b: torch.linalg.det(a),
    "det of 1": lambda a, b: torch.det(a[:, :1, 1:2]),
    "det and factors": lambda a, b: aten._linalg_det.default(a)[0],
    "slogdet": lambda a, b: torch.linalg.slogdet(a),
    "slogdet, old": lambda a, b: torch.slogdet(a[1]),
    "slogdet and factors": lambda a, b: aten._linalg_slogdet.default(a)[:2],
    "logdet": lambda a, b: torch.logdet(a),
}


@pytest.mark.parametrize("functions", [FACTORS, SYSTEMS, INVERSES])
@pytest.mark.parametrize("is_complex", [False, True])
def test_functions_are_those_of_torch(functions: dict[str, Any], is_complex: bool) -> None:
    if is_complex:
        names = ("lu_factor", "lu", "lu_unpack", "solve", "solve, right", "solve_ex", "lu_solve, adjoint")
        chosen = {
            name: of_parts(functions[name]) for name in (*names, "inv", "det", "slogdet") if name in functions
        }
        agree(chosen, torch.view_as_real(torch.complex(A, A.mT)), torch.view_as_real(torch.complex(B, -B)))
    else:
        agree(functions, A, B)


def of_parts(function: Any) -> Any:
    """The function, of complex numbers as pairs, with such results."""

    def called(a: Any, b: Any) -> Any:
        found = function(torch.view_as_complex(a), torch.view_as_complex(b))
        listed = found if isinstance(found, tuple | list) else [found]
        return [torch.view_as_real(each.resolve_conj()) if each.is_complex() else each for each in listed]

    return called


def test_singular_matrices() -> None:
    # Powers of two, so that elimination ends with an exact 0 in whatever order a LAPACK does it.
    flat = torch.tensor([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [1.0, 0.0, 1.0]])
    functions = {name: INVERSES[name] for name in ("det", "logdet")} | {
        "slogdet": lambda a, b: torch.linalg.slogdet(a).sign,
        "info": lambda a, b: torch.linalg.inv_ex(a).info > 0,
    }
    agree(functions, torch.stack([flat, flat.T * 0]), B)
