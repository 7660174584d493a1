"""Reductions over all, one and several dimensions, with every option that torch has."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.tensor([[[0.5, -2.0, 3.0], [1.5, 1.5, -0.5]], [[2.0, 0.25, 3.0], [-1.0, 4.0, 4.0]]])
TRUTH = X > 0.4
WHOLE = (X * 4).to(torch.int32)

ARITHMETIC: dict[str, Any] = {
    "sum": lambda x, t, n: x.sum(),
    "sum, dims": lambda x, t, n: x.sum((0, -1), keepdim=True),
    "sum, dtype": lambda x, t, n: x.sum(1, dtype=torch.float64),
    "sum of truth": lambda x, t, n: t.sum(2),
    "sum of integers": lambda x, t, n: n.sum(0),
    "sum, no dims": lambda x, t, n: torch.sum(x, ()),
    "mean": lambda x, t, n: x.mean(),
    "mean, dims": lambda x, t, n: x.mean((1, 2)),
    "mean, dtype": lambda x, t, n: n.mean(0, keepdim=True, dtype=torch.float32),
    "prod": lambda x, t, n: x.prod(),
    "prod, dim": lambda x, t, n: x.prod(1, keepdim=True),
    "prod, dtype": lambda x, t, n: n.prod(2, dtype=torch.float64),
    "prod of truth": lambda x, t, n: t.prod(0),
}
EXTREMES: dict[str, Any] = {
    "amax": lambda x, t, n: x.amax((0, 2)),
    "amin": lambda x, t, n: x.amin(1, keepdim=True),
    "amax of truth": lambda x, t, n: t.amax(2),
    "amin of truth": lambda x, t, n: t.amin(),
    "max": lambda x, t, n: x.max(),
    "min": lambda x, t, n: n.min(),
    "aminmax": lambda x, t, n: torch.aminmax(x),
    "aminmax, dim": lambda x, t, n: torch.aminmax(x, dim=1, keepdim=True),
    "max, dim": lambda x, t, n: x.max(2),
    "min, dim": lambda x, t, n: n.min(0, keepdim=True),
    "max of truth": lambda x, t, n: t.max(2).values,
    "max, other": lambda x, t, n: torch.max(x, x.flip(2)),
    "min, other": lambda x, t, n: torch.min(n, n.flip(0)),
    "argmax": lambda x, t, n: x.argmax(),
    "argmax, dim": lambda x, t, n: x.argmax(2, keepdim=True),
    "argmin": lambda x, t, n: n.argmin(1),
}
LOGIC: dict[str, Any] = {
    "any": lambda x, t, n: t.any(),
    "any of numbers": lambda x, t, n: n.any(1),
    "any, dims": lambda x, t, n: torch.any(t, (0, 1), keepdim=True),
    "all": lambda x, t, n: x.all(),
    "all, dim": lambda x, t, n: t.all(2, keepdim=True),
    "all, dims": lambda x, t, n: torch.all(t, (0, 2)),
}
SPREADS: dict[str, Any] = {
    "var": lambda x, t, n: x.var(),
    "var, biased": lambda x, t, n: torch.ops.aten.var.default(x, False),
    "var, dim": lambda x, t, n: torch.ops.aten.var.dim(x, [2], True, True),
    "var, correction": lambda x, t, n: x.var((0, 2), correction=2, keepdim=True),
    "var, no correction": lambda x, t, n: x.var(1, correction=0),
    "std": lambda x, t, n: x.std(),
    "std, dim": lambda x, t, n: torch.ops.aten.std.dim(x, [0, 1], False),
    "std, correction": lambda x, t, n: x.std(2, correction=0.5),
    "var_mean": lambda x, t, n: torch.var_mean(x),
    "var_mean, dim": lambda x, t, n: torch.ops.aten.var_mean.dim(x, [1], False, True),
    "var_mean, correction": lambda x, t, n: torch.var_mean(x, (0, 1), correction=0),
    "std_mean": lambda x, t, n: torch.std_mean(x),
    "std_mean, dim": lambda x, t, n: torch.ops.aten.std_mean.dim(x, [2]),
    "std_mean, correction": lambda x, t, n: torch.std_mean(x, 2, correction=2, keepdim=True),
}


@pytest.mark.parametrize("functions", [ARITHMETIC, EXTREMES, LOGIC, SPREADS])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, TRUTH, WHOLE)


def test_extremes_of_any_size() -> None:
    functions = {name: EXTREMES[name] for name in ("amax", "max", "max, dim", "argmin", "max, other")}
    wide = torch.cat([X, X.flip(0) + 1, X - 2])
    agree(functions, X, TRUTH, WHOLE, other=(wide, wide > 0.4, (wide * 4).to(torch.int32)))
