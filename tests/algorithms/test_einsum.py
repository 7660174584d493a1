"""Einstein sums against numpy: every form of subscripts, broadcast ones, paths, integers that wrap around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from onnxsmith.algorithms import einsum
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

CASES: dict[str, Sequence[tuple[int, ...]]] = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(5, 2, 3), (5, 3, 4)],
    "i,j->ij": [(2,), (3,)],
    "i,i->": [(4,), (4,)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iijj->ij": [(2, 2, 3, 3)],
    "...ij,...jk->...ik": [(5, 2, 3), (3, 4)],
    "b...,b...->b...": [(3, 2, 4), (3, 2, 4)],
    "ij,j,jk->ik": [(2, 3), (3,), (3, 4)],
    "abc,cd,be->ade": [(2, 3, 4), (4, 5), (3, 6)],
    "abcd,cdef->abef": [(2, 3, 4, 5), (4, 5, 2, 3)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "bhqd,bhkd->bhqk": [(2, 3, 4, 5), (2, 3, 6, 5)],
}


def _arrays(equation: str, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(-9, 9, shape).astype(dtype) for shape in CASES[equation]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("equation", CASES)
def test_sums(equation: str, dtype: str):
    arrays = _arrays(equation, dtype)
    (found,) = computed(lambda *given: einsum.einsum(equation, given), *arrays)
    np.testing.assert_array_equal(found, np.einsum(equation, *arrays))


@pytest.mark.parametrize("path", [(0, 1, 0, 1), (1, 2, 0, 1), (0, 2, 0, 1)])
def test_paths(path: tuple[int, ...]):
    arrays = _arrays("abc,cd,be->ade", "float64")
    (found,) = computed(lambda *given: einsum.einsum("abc,cd,be->ade", given, path), *arrays)
    np.testing.assert_array_equal(found, np.einsum("abc,cd,be->ade", *arrays))


@pytest.mark.parametrize("shapes", [[(0, 3), (3, 4)], [(2, 0), (0, 4)], [(2, 3), (3, 0)]])
def test_of_nothing(shapes: Sequence[tuple[int, ...]]):
    arrays = [np.ones(each) for each in shapes]
    (found,) = computed(lambda *given: einsum.einsum("ij,jk->ik", given), *arrays)
    np.testing.assert_array_equal(found, np.einsum("ij,jk->ik", *arrays))


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("matrices.contractions", {"cross": 9}) == []
