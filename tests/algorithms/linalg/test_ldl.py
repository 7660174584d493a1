"""Factors of symmetric and Hermitian matrices that are not definite, by what they solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.linalg import ldl
from tests.algorithms.linalg.fields import results

NUMBERS = np.random.default_rng(3)
SQUARE = NUMBERS.normal(size=(3, 4, 4))
OTHER = NUMBERS.normal(size=(3, 4, 4))
RIGHT = NUMBERS.normal(size=(3, 4, 2))
#: Zeros on the diagonal ask for pivots of two rows.
HOLLOW = np.array([[[0.0, 2.0, 1.0, 0.0], [2.0, 0.0, 0.5, 3.0], [1.0, 0.5, 0.0, 1.0], [0.0, 3.0, 1.0, 0.0]]])
MATRICES: dict[str, tuple[Any, bool]] = {
    "real": (SQUARE + SQUARE.mT, True),
    "real, as symmetric": (SQUARE + SQUARE.mT, False),
    "hollow": (HOLLOW, True),
    "Hermitian": (SQUARE + SQUARE.mT + 1j * (OTHER - OTHER.mT), True),
    "symmetric": (SQUARE + SQUARE.mT + 1j * (OTHER + OTHER.mT), False),
    "one element": (SQUARE[:, :1, :1], True),
    "two rows": (HOLLOW[:, :2, :2], True),
}


@pytest.mark.parametrize("name", MATRICES)
def test_systems_are_solved_by_factors(name: str) -> None:
    a, hermitian = MATRICES[name]
    b = RIGHT[: len(a), : a.shape[-1]].astype(a.dtype)

    def both(a: Any, b: Any) -> Any:
        factors, pivots, info = ldl.factored(a, hermitian)
        return ldl.solved(factors, pivots, b, hermitian=hermitian), info

    x, info = results(both, a, b)
    np.testing.assert_allclose(a @ x, b, rtol=1e-8, atol=1e-8)
    assert not info.any()


def test_only_the_lower_triangle_is_read() -> None:
    a, _ = MATRICES["real"]
    whole, lower = (results(lambda z: ldl.factored(z, True)[0], each)[0] for each in (a, np.tril(a)))
    np.testing.assert_allclose(whole, lower)


def test_where_the_first_zero_is() -> None:
    a = np.stack([np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3)), np.eye(3)])
    (info,) = results(lambda z: ldl.factored(z, True)[2], a)
    assert info.tolist() == [3, 1, 0]
