"""Covariances and correlations, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numpy.agreement import agrees, sample
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_together(name: str, dtype: str) -> None:
    x, y = sample(dtype, (3, 7), special=False), sample(dtype, (2, 7), seed=1, special=False)
    for rowvar in (True, False):
        agrees(name, x, rowvar=rowvar, scale=100)
    agrees(name, x, y, scale=100)
    agrees(name, x[0], y[0], scale=100)
    agrees(name, x[0], scale=100)
    agrees(name, x[:1], scale=100, recorded=False)
    agrees(name, x.real, dtype="float32", scale=100, exact=False)
    agrees(name, np.ones((2, 2, 2)))


def test_weights() -> None:
    x = sample("float64", (3, 5), special=False)
    whole, broken = np.array([1, 2, 3, 1, 2]), np.array([0.5, 1, 2, 0.1, 3])
    for ddof in (None, 0, 1, 2):
        agrees("cov", x, ddof=ddof, fweights=whole, scale=100)
        agrees("cov", x, ddof=ddof, aweights=broken, scale=100)
        agrees("cov", x, ddof=ddof, fweights=whole, aweights=broken, scale=100)
    agrees("cov", x, bias=True, scale=100)
    agrees("cov", x, fweights=broken)
    agrees("cov", x, aweights=-broken)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("covariances") == []
