"""Distinct elements and sets, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, agrees, sample, some
from tests.numpy.every_argument import disagreements

SHAPES: list[tuple[int, ...]] = [(), (12,), (3, 5), (0,), (2, 0)]


@pytest.mark.parametrize("dtype", ALL)
def test_unique(dtype: str) -> None:
    for shape in some(dtype, SHAPES):
        x = sample(dtype, shape)
        if x.size > 3 and x.dtype.kind == "f":
            x.reshape(-1)[-2:] = np.nan
        agrees("unique", x)
        agrees("unique", x, return_index=True, return_inverse=True, return_counts=True)
        agrees("unique", x, return_counts=True, equal_nan=False)


@pytest.mark.parametrize("dtype", ALL)
def test_unique_of_the_standard(dtype: str) -> None:
    for shape in some(dtype, SHAPES):
        x = sample(dtype, shape)
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            agrees(name, x)
        expected = np.sort(np.unique(x, equal_nan=False))
        np.testing.assert_array_equal(np.asarray(xp.unique_values(xp.asarray(x))), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "complex64"])
def test_unique_slices(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for shape, axis in [((8, 2), 0), ((2, 8), 1), ((3, 6, 2), 1), ((5,), 0), ((0, 2), 0)]:
        x = rng.integers(0, 2, shape).astype(dtype)
        agrees("unique", x, axis=axis)
        agrees("unique", x, axis=axis, return_index=True, return_inverse=True, return_counts=True)


@pytest.mark.parametrize("dtype", ALL)
def test_sets(dtype: str) -> None:
    for shape in some(dtype, SHAPES[1:]):
        x, y = sample(dtype, shape), sample(dtype, (9,), seed=1)
        for first, second in ((x, y), (y, x)):
            agrees("isin", first, second)
            agrees("isin", first, second, invert=True)
            agrees("union1d", first, second)
            agrees("setdiff1d", first, second)
            agrees("setxor1d", first, second)
            agrees("intersect1d", first, second)
            agrees("intersect1d", first, second, return_indices=True)


def test_sets_of_different_types() -> None:
    whole, broken = np.array([1, 2, 3, 300]), np.array([2.0, 2.5, 3], np.float32)
    for name in ("isin", "union1d", "setdiff1d", "setxor1d", "intersect1d"):
        agrees(name, whole, broken)
        agrees(name, broken, whole)
        agrees(name, whole.astype(np.uint8), np.array([-1, 2]))
    x, y = np.array([5, 2, 9]), np.array([9, 5, 1])
    for name in ("setdiff1d", "setxor1d", "intersect1d"):
        agrees(name, x, y, assume_unique=True)
    agrees("intersect1d", x, y, assume_unique=True, return_indices=True)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("sets") == []
