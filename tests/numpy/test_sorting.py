"""Orders and searches in them, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, FLOATS, REAL, agrees, sample, some
from tests.numpy.every_argument import disagreements

SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((7,), -1),
    ((), None),
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), None),
    ((2, 3, 5), 1),
    ((0,), 0),
    ((0, 3), 1),
    ((3, 0), 1),
]


@pytest.mark.parametrize("dtype", ALL)
def test_sort(dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES):
        x = sample(dtype, shape)
        agrees("sort", x, axis=axis)
        agrees("argsort", x, axis=axis, kind="stable")


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_largest_number_comes_before_infinity_and_that_before_nan(dtype: str) -> None:
    largest = np.finfo(dtype).max
    x = np.array([np.nan, np.inf, largest, -np.inf, np.inf, -largest, np.nan, 0, -0.0], dtype)
    agrees("sort", x)
    agrees("argsort", x, kind="stable")


def test_every_kind_of_complex_nan_has_its_place() -> None:
    parts = [np.nan, np.inf, -np.inf, 1.0, -1.0, 0.0]
    x = np.array([complex(a, b) for a in parts for b in parts])
    np.random.default_rng(0).shuffle(x)
    agrees("sort", x)
    agrees("argsort", x, kind="stable")


def test_descending_order_is_stable() -> None:
    x = xp.asarray([1, 3, 3, 1, 2])
    assert xp.argsort(x, descending=True).tolist() == [1, 2, 4, 0, 3]
    assert xp.sort(x, descending=True).tolist() == [3, 3, 2, 1, 1]


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
def test_lexsort(dtype: str) -> None:
    first, last = sample(dtype, (3, 9)), sample("int64", (3, 9), special=False) % 3
    for axis in (0, 1):
        agrees("lexsort", (first, last), axis=axis)
        agrees("lexsort", (last, first), axis=axis)
    agrees("lexsort", (sample(dtype, (0,)), sample("bool", (0,))))
    agrees("lexsort", np.array([[2, 1, 3], [0, 1, 0]]), recorded=False)


def test_sort_complex() -> None:
    for dtype in ALL:
        agrees("sort_complex", sample(dtype, (2, 5)), exact=False)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_partition(dtype: str) -> None:
    for shape, axis in [((9,), -1), ((3, 8), 0), ((3, 8), None)]:
        x = sample(dtype, shape)
        for kth in (1, [0, 2], -1):
            ours = np.asarray(xp.partition(xp.asarray(x), kth, axis=axis))
            theirs = np.partition(x, kth, axis=axis)
            np.testing.assert_array_equal(
                np.take(ours, kth, axis=axis or 0), np.take(theirs, kth, axis=axis or 0)
            )
            places = np.asarray(xp.argpartition(xp.asarray(x), kth, axis=axis))
            flat = x.reshape(-1) if axis is None else x
            np.testing.assert_array_equal(np.take_along_axis(flat, places, axis or 0), ours)
    with pytest.raises(ValueError, match="kth"):
        xp.partition(xp.asarray([1, 2]), 2)


@pytest.mark.parametrize("dtype", REAL)
def test_searchsorted(dtype: str) -> None:
    for length in (0, 1, 8):
        rows = np.sort(sample(dtype, (length,)))
        for shape in ((), (5,), (2, 3), (0,)):
            for side in ("left", "right"):
                agrees("searchsorted", rows, sample(dtype, shape, seed=1), side=side)
    x = sample(dtype, (8,))
    agrees("searchsorted", x, x, sorter=np.argsort(x, kind="stable"))


def test_searchsorted_promotes_and_refuses() -> None:
    agrees("searchsorted", np.array([1, 3, 5]), np.array([2.5, 3, np.nan]))
    agrees("searchsorted", np.array([1, 3, 5], np.uint8), np.array([-1, 300]))
    agrees("searchsorted", np.array([1, 3]), np.array([1]), side="middle")
    agrees("searchsorted", np.array([[1, 3]]), np.array([1]))
    agrees("searchsorted", np.array([1, 3]), np.array([1]), sorter=np.array([0.0, 1.0]))


@pytest.mark.parametrize("dtype", ["int16", "uint64", "float32", "float64"])
def test_digitize(dtype: str) -> None:
    x = np.concatenate([sample(dtype, (2, 5)), np.arange(10).reshape(2, 5).astype(dtype)])
    for bins in ([0, 2, 4, 8], [8, 3, 3, 1], [2], []):
        for right in (False, True):
            agrees("digitize", x, np.array(bins, dtype), right=right)
    agrees("digitize", x, np.array([1, 3, 2], dtype))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("sorting", {"partition": 3, "searchsorted": 4}) == []
