"""`trim_zeros` and the polynomials that depend on leading zeros, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.numpy.agreement import ALL, agrees, sample
from tests.numpy.every_argument import disagreements

VECTORS: list[list[float]] = [
    [0, 0, 1, 2, 0, 3, 0],
    [0, 0, 0],
    [1, 2, 3],
    [0],
    [5],
    [],
    [0, 0, 0, 7],
    [-0.0, 4, -0.0],
]
POLYNOMIALS: list[list[float]] = [[1, 2, 3], [0, 0, 1, 2], [2, 1], [0, 0], [4], [0, 3, 1], []]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("trim", ["fb", "f", "b", "BF"])
def test_trim_zeros(dtype: str, trim: str) -> None:
    for vector in VECTORS:
        agrees("trim_zeros", np.array(vector, dtype), trim, exact=False)


def test_nan_is_no_zero() -> None:
    agrees("trim_zeros", np.array([0, np.nan, 0, np.inf, 0.0]), exact=False)


@pytest.mark.skipif(
    not hasattr(np.lib, "NumpyVersion") or np.lib.NumpyVersion(np.__version__) < "2.2.0",
    reason="older versions trim vectors alone",
)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
def test_trim_zeros_of_matrices(axis: Any) -> None:
    whole = np.zeros((4, 5))
    for places in ([(1, 2), (2, 3)], [(0, 0)], [(3, 4), (0, 1)], []):
        x = whole.copy()
        for place in places:
            x[place] = 1.5
        for trim in ("fb", "f", "b"):
            agrees("trim_zeros", x, trim, axis=axis, exact=False)
    agrees("trim_zeros", np.zeros((0, 3)), axis=axis, exact=False)


def test_trim_is_read() -> None:
    agrees("trim_zeros", np.array([0, 1.0]), "front")


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64", "complex128"])
def test_polymul(dtype: str) -> None:
    for a in POLYNOMIALS:
        for b in POLYNOMIALS:
            agrees("polymul", np.array(a, dtype), np.array(b, dtype), scale=20)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64", "complex128"])
def test_polydiv(dtype: str) -> None:
    dividends: list[list[float]] = [[1, 2, 3], [3, 5, 2, 7, 1], [4], [0, 1, 2], [2, 4, 6]]
    for a in dividends:
        for b in ([2, 1], [3], [1, 2, 3], [1, 0, 0, 2]):
            agrees("polydiv", np.array(a, dtype), np.array(b, dtype), scale=50, exact=False, ulps=16)


def test_polydiv_of_random_numbers() -> None:
    for seed in range(4):
        u, v = sample("float64", (7,), seed, special=False), sample("float64", (3,), seed + 9, special=False)
        v[0] = 2.0
        agrees("polydiv", u, v, scale=1e4, exact=False, ulps=16)


def test_polydiv_needs_coefficients() -> None:
    agrees("polydiv", np.zeros(0), np.ones(2))
    agrees("polydiv", np.ones(2), np.zeros(0))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("trimming", count=120) == []
