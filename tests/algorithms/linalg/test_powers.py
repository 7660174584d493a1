"""Exponentials and powers of matrices, and cross products, against numpy and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.linalg import powers
from tests.algorithms.linalg.fields import results

NUMBERS = np.random.default_rng(5)
REAL = NUMBERS.normal(size=(2, 3, 3))
COMPLEX = REAL + 1j * NUMBERS.normal(size=(2, 3, 3))


@pytest.mark.parametrize("a", [REAL, COMPLEX, REAL * 8, REAL * 1e-3, REAL * 0, REAL[:, :1, :1]])
def test_exponentials(a: Any) -> None:
    linalg = pytest.importorskip("scipy.linalg")
    (found,) = results(powers.matrix_exp, a)
    np.testing.assert_allclose(found, np.stack([linalg.expm(each) for each in a]), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("exponent", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("a", [REAL, COMPLEX])
def test_powers(a: Any, exponent: int) -> None:
    (found,) = results(lambda z: powers.matrix_power(z, exponent), a)
    np.testing.assert_allclose(found, np.linalg.matrix_power(a, exponent), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("a", [REAL, COMPLEX])
def test_cross_products(a: Any, axis: int) -> None:
    (found,) = results(lambda x, y: powers.cross(x, y, axis), a, a[::-1])
    np.testing.assert_allclose(found, np.cross(a, a[::-1], axis=axis), rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("a", [REAL[0, 0], COMPLEX[0, 0]])
def test_powers_of_numbers(a: Any, count: int) -> None:
    (found,) = results(lambda x: powers.powers(x, count), a)
    np.testing.assert_allclose(found, np.vander(a, count, increasing=True), rtol=1e-10)
