"""Medians, modes, quantiles, histograms and distances."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.tensor([[3.0, 1.0, 2.0, 2.0, 5.0], [0.5, -1.0, 0.5, 4.0, -2.0]])
MISSING = torch.tensor([[3.0, float("nan"), 2.0, 2.0, 5.0], [0.5, -1.0, 0.5, 4.0, float("nan")]])

ORDER: dict[str, Any] = {
    "median": lambda x, m: x.median(),
    "median, dim": lambda x, m: x.median(1),
    "median, kept": lambda x, m: x.median(0, keepdim=True).values,
    "median of NaN": lambda x, m: m.median(1).values,
    "nanmedian": lambda x, m: m.nanmedian(),
    "nanmedian, dim": lambda x, m: m.nanmedian(1),
    "mode": lambda x, m: x.mode(1).values,
    "mode, kept": lambda x, m: x.mode(-1, keepdim=True).values,
    **{
        f"quantile {how}": lambda x, m, how=how: x.quantile(
            torch.tensor([0.1, 0.5, 0.85]), 1, interpolation=how
        )
        for how in ("linear", "lower", "higher", "nearest", "midpoint")
    },
    "quantile of all": lambda x, m: x.quantile(0.3),
    "quantile, kept": lambda x, m: x.quantile(0.3, 1, keepdim=True),
    "quantile of NaN": lambda x, m: m.quantile(0.3, 1),
    "nanquantile": lambda x, m: m.nanquantile(0.3, 1),
    "nanquantile, many": lambda x, m: m.nanquantile(torch.tensor([0.25, 0.75]), 1, keepdim=True),
    "nanquantile of all": lambda x, m: m.nanquantile(0.6, interpolation="lower"),
}


def test_functions_are_those_of_torch() -> None:
    agree(ORDER, X, MISSING)
