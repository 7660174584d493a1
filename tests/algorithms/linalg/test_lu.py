"""LU factors of matrices of any shape, and what they solve, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.linalg import lu
from tests.algorithms.linalg.fields import results
from tests.numpy.every_argument import disagreements

NUMBERS = np.random.default_rng(7)
REAL = NUMBERS.normal(size=(2, 4, 4))
COMPLEX = REAL + 1j * NUMBERS.normal(size=(2, 4, 4))
RIGHT = NUMBERS.normal(size=(2, 4, 3))
HOLLOW = np.array([[[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]]])


@pytest.mark.parametrize("a", [REAL, COMPLEX, REAL[:, :3], REAL[..., :2], HOLLOW, REAL[:, :1, :1]])
def test_factors_multiply_to_the_matrix(a: Any) -> None:
    def parts(z: Any) -> Any:
        factors, pivots, order, info = lu.factored(z)
        lower, upper = lu.unpacked(factors)
        return lower, upper, lu.exchange_matrix(order, a.shape[-2]), pivots, info

    lower, upper, exchange, pivots, info = results(parts, a)
    np.testing.assert_allclose(exchange @ lower @ upper, a, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(lower, np.tril(lower))
    np.testing.assert_allclose(np.diagonal(lower, 0, -2, -1), 1)
    np.testing.assert_allclose(upper, np.triu(upper))
    assert np.abs(lower).max() < 1.5  # rows are exchanged for the largest pivots
    assert pivots.shape == (len(a), min(a.shape[-2:]))
    assert not info.any()


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("a", [REAL, COMPLEX])
def test_systems_by_factors(a: Any, adjoint: bool) -> None:
    def solved(z: Any, b: Any) -> Any:
        factors, given, _, _ = lu.factored(z)
        pivots: Any = given
        return lu.solved_with(factors, pivots + np.int64(1), b, adjoint=adjoint)

    b = RIGHT.astype(a.dtype)
    (x,) = results(solved, a, b)
    np.testing.assert_allclose((a.conj().mT if adjoint else a) @ x, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("a", [REAL, COMPLEX, HOLLOW])
def test_inverses(a: Any) -> None:
    inverse, info = results(lu.inverted, a)
    np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-7, atol=1e-9)
    assert not info.any()


def test_the_first_zero_pivot() -> None:
    a = np.stack([np.diag([1.0, 0.0, 2.0]), np.zeros((3, 3)), np.eye(3)])
    (info,) = results(lambda z: lu.factored(z)[3], a)
    assert info.tolist() == [2, 1, 0]


def test_without_exchanges() -> None:
    def parts(z: Any) -> Any:
        return lu.unpacked(lu.factored(z, False)[0])

    a = REAL + 5 * np.eye(4)
    lower, upper = results(parts, a)
    np.testing.assert_allclose(lower @ upper, a, rtol=1e-9)


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("matrices.solving", {"linalg.matrix_rank": 2}) == []
