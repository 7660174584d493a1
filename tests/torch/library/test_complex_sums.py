"""Sums, products, spreads and products of matrices of complex numbers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor([[[1.5, -2.0, 0.0], [0.25, 3.0, -1.0]], [[0.5, 1.0, 1.0], [-0.5, 2.0, 0.75]]])
B = torch.tensor([[[0.5, 1.0, -2.0], [2.0, -0.75, 1.0]], [[1.5, -1.0, 0.25], [0.0, 0.5, -1.5]]])
real = torch.view_as_real


def of(function: Any) -> Any:
    """The function of two complex arrays, with real parts of its results."""

    def called(a: Any, b: Any) -> Any:
        found = function(torch.complex(a, b), torch.complex(b, a + 1))
        listed = found if isinstance(found, tuple | list) else [found]
        return [real(each.resolve_conj()) if each.is_complex() else each for each in listed]

    return called


SUMS: dict[str, Any] = {
    "sum": of(lambda x, y: x.sum()),
    "sum, dims": of(lambda x, y: x.sum((0, 2), keepdim=True)),
    "mean": of(lambda x, y: x.mean()),
    "mean, dim": of(lambda x, y: x.mean(1)),
    "cumsum": of(lambda x, y: x.cumsum(2)),
    "diff": of(lambda x, y: x.diff(dim=1)),
    "diff, twice, with ends": of(lambda x, y: x.diff(2, 2, y[..., :1], y[..., 1:2])),
    "trace": of(lambda x, y: x[0].trace()),
    "trapezoid": of(lambda x, y: torch.trapezoid(x, dx=0.5)),
    "trapezoid, x": of(lambda x, y: torch.trapezoid(x, y, dim=1)),
    "cumulative_trapezoid": of(lambda x, y: torch.cumulative_trapezoid(x, dx=2.0)),
    "cumulative_trapezoid, x": of(lambda x, y: torch.cumulative_trapezoid(x, y)),
    "prod": of(lambda x, y: x.prod()),
    "prod, dim": of(lambda x, y: x.prod(2, keepdim=True)),
    "cumprod": of(lambda x, y: x.cumprod(2)),
    "logcumsumexp": of(lambda x, y: x.logcumsumexp(1)),
    "any": of(lambda x, y: (x - x.conj()).any(2)),
    "any of all": of(lambda x, y: x.any()),
    "all": of(lambda x, y: x.all((0, 1))),
    "all of all": of(lambda x, y: x.all()),
    "count_nonzero": of(lambda x, y: (x - x.real).count_nonzero((0, 1))),
    "count_nonzero of all": of(lambda x, y: (x - x.conj()).count_nonzero()),
}
SPREADS: dict[str, Any] = {
    "var": of(lambda x, y: x.var()),
    "var, dims": of(lambda x, y: x.var((0, 2), correction=0, keepdim=True)),
    "var, biased": of(lambda x, y: torch.ops.aten.var.dim(x, [1], False)),
    "std": of(lambda x, y: x.std()),
    "std, dim": of(lambda x, y: x.std(2, correction=0)),
    "var_mean": of(lambda x, y: torch.var_mean(x, (0, 1))),
    "std_mean": of(lambda x, y: torch.std_mean(x, 2, keepdim=True)),
    "std_mean of all": of(lambda x, y: torch.std_mean(x)),
}
PRODUCTS: dict[str, Any] = {
    "matmul": of(lambda x, y: x @ y.mT),
    "mm": of(lambda x, y: torch.mm(x[0], y[0].T)),
    "bmm": of(lambda x, y: torch.bmm(x, y.mT)),
    "mv": of(lambda x, y: torch.mv(x[0], y[0, 0])),
    "dot": of(lambda x, y: torch.dot(x[0, 0], y[0, 0])),
    "inner": of(lambda x, y: torch.inner(x, y)),
    "outer": of(lambda x, y: torch.outer(x[0, 0], y[0, 1])),
    "kron": of(lambda x, y: torch.kron(x[0], y[0])),
    "tensordot": of(lambda x, y: torch.tensordot(x, y, dims=([2, 0], [2, 0]))),
    "linear": of(lambda x, y: torch.nn.functional.linear(x, y[0], y[0, :, 0])),
    "vdot": of(lambda x, y: torch.vdot(x[0, 0], y[0, 0])),
    "vecdot": of(lambda x, y: torch.linalg.vecdot(x, y, dim=1)),
    "addmm": of(lambda x, y: torch.addmm(x[0, :, :2], x[0], y[0].T, beta=2, alpha=0.5)),
    "addmv": of(lambda x, y: torch.addmv(x[0, :, 0], x[0], y[0, 0], beta=0.5, alpha=2)),
    "baddbmm": of(lambda x, y: torch.baddbmm(x[:, :, :2], x, y.mT, beta=2, alpha=3)),
    "addbmm": of(lambda x, y: torch.addbmm(x[0, :, :2], x, y.mT, beta=2, alpha=3)),
    "addr": of(lambda x, y: torch.addr(x[0], y[0, :, 0], y[0, 0], beta=2, alpha=3)),
}


@pytest.mark.parametrize("functions", [SUMS, SPREADS, PRODUCTS])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, A, B)
