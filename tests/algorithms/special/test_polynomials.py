"""Orthogonal polynomials by degree, against scipy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.special.polynomials import Family, polynomial
from tests.algorithms.running import computed

special = pytest.importorskip("scipy.special")


def third(n: Any, x: Any) -> Any:
    """Chebyshev's polynomials of the third kind, by those of the second."""
    return special.eval_chebyu(n, x) - np.where(n > 0, special.eval_chebyu(n - 1, x), 0)


def fourth(n: Any, x: Any) -> Any:
    return special.eval_chebyu(n, x) + np.where(n > 0, special.eval_chebyu(n - 1, x), 0)


ORACLES: dict[Family, Any] = {
    "chebyshev_polynomial_t": special.eval_chebyt,
    "chebyshev_polynomial_u": special.eval_chebyu,
    "chebyshev_polynomial_v": third,
    "chebyshev_polynomial_w": fourth,
    "hermite_polynomial_h": special.eval_hermite,
    "hermite_polynomial_he": special.eval_hermitenorm,
    "laguerre_polynomial_l": special.eval_laguerre,
    "legendre_polynomial_p": special.eval_legendre,
}
N, X = (
    each.ravel() for each in np.meshgrid([0.0, 1.0, 2.0, 3.0, 6.0, 9.0], [-0.9, -0.25, 0.0, 0.3, 0.75, 1.0])
)


@pytest.mark.parametrize("family", ORACLES)
def test_values(family: Family) -> None:
    (found,) = computed(lambda x, n: polynomial(family, x, n), X, N)
    np.testing.assert_allclose(found, ORACLES[family](N.astype(int), X), 1e-9, 1e-9)


@pytest.mark.parametrize("family", ["chebyshev_polynomial_t", "chebyshev_polynomial_w"])
def test_shifted(family: Family) -> None:
    (found,) = computed(lambda x, n: polynomial(family, x, n, is_shifted=True), X, N)
    np.testing.assert_allclose(found, ORACLES[family](N.astype(int), 2 * X - 1), 1e-9, 1e-8)


def test_degrees_that_are_none() -> None:
    n = np.array([-1.0, np.nan, np.inf, 2.9])
    (found,) = computed(lambda x, n: polynomial("legendre_polynomial_p", x, n), np.full(4, 0.5), n)
    np.testing.assert_allclose(found, [0, 0, 0, special.eval_legendre(2, 0.5)])


@pytest.mark.parametrize(("dtype", "most"), [("float32", 128), ("float64", 512)])
def test_hermite_ends(dtype: str, most: int) -> None:
    n = np.array([most + 1, 3], dtype)
    (found,) = computed(lambda x, n: polynomial("hermite_polynomial_h", x, n), np.full(2, 0.5, dtype), n)
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1], special.eval_hermite(3, 0.5), 1e-6)
