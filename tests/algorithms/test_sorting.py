"""Sorting, searching and distinct values against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms import sorting
from tests.algorithms.running import computed

NAN, INF = np.nan, np.inf
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "uint64", "bool")


def _ties(dtype: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 3, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_sort_is_stable(dtype: str, axis: int):
    x = _ties(dtype, 20, 6)
    values, places = computed(lambda x: sorting.sort(x, axis), x)
    np.testing.assert_array_equal(values, np.sort(x, axis=axis))
    np.testing.assert_array_equal(places, np.argsort(x, axis=axis, kind="stable"))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_sort_descending_keeps_the_order_of_equals(dtype: str):
    x = _ties(dtype, 30)
    _, places = computed(lambda x: sorting.sort(x, 0, descending=True), x)
    np.testing.assert_array_equal(places, np.argsort(-x, kind="stable"))


def test_what_is_no_number_is_sorted_last():
    x = np.array([3.0, NAN, 1.0, INF, NAN, -INF], np.float32)
    values, places = computed(lambda x: sorting.sort(x, 0), x)
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


def test_sort_of_nothing():
    values, places = computed(lambda x: sorting.sort(x, 0), np.zeros((0, 3), np.float32))
    assert values.shape == places.shape == (0, 3)


def test_few():
    x = np.random.default_rng(1).permutation(12).astype(np.float32)
    values, places = computed(lambda x: sorting.topk(x, 4, 0), x)
    np.testing.assert_array_equal(values, np.sort(x)[::-1][:4])
    np.testing.assert_array_equal(x[places], values)
    values, place = computed(lambda x: sorting.kth_value(x, 3, 0), x)
    assert values == [np.sort(x)[2]] == x[place]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_search(right: bool, dtype: str):
    sequence = np.sort(_ties(dtype, 9))
    values = _ties(dtype, 4, 5)
    (found,) = computed(lambda a, v: sorting.search_sorted(a, v, right=right), sequence, values)
    np.testing.assert_array_equal(found, np.searchsorted(sequence, values, side="right" if right else "left"))


def test_search_in_each_row():
    rows = np.sort(np.random.default_rng(2).normal(size=(3, 7)), axis=1)
    values = np.random.default_rng(3).normal(size=(3, 4))
    (found,) = computed(sorting.search_sorted, rows, values)
    np.testing.assert_array_equal(found, [np.searchsorted(a, v) for a, v in zip(rows, values, strict=True)])


def test_search_in_nothing():
    (found,) = computed(sorting.search_sorted, np.zeros(0, np.float32), np.zeros(3, np.float32))
    np.testing.assert_array_equal(found, np.zeros(3))


def test_membership():
    x, among = _ties("int64", 4, 5), np.array([0, 7, 2])
    (found,) = computed(sorting.is_in, x, among)
    np.testing.assert_array_equal(found, np.isin(x, among))
    (found,) = computed(sorting.is_in, x, np.zeros(0, np.int64))
    assert not found.any()


def test_distinct_elements():
    x = np.array([[3, 1, 1], [2, 3, 3]])
    values, first, inverse, counts = computed(sorting.unique, x)
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for mine, theirs in zip((values, first, inverse, counts), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs.reshape(-1))


def test_distinct_rows():
    x = np.array([[3.0, 1.0], [2.0, 3.0], [3.0, 1.0]], np.float32)
    values, first, inverse, counts = computed(lambda x: sorting.unique(x, 0), x)
    np.testing.assert_array_equal(values, np.unique(x, axis=0))
    np.testing.assert_array_equal(first, [1, 0])
    np.testing.assert_array_equal(inverse, [1, 0, 1])
    np.testing.assert_array_equal(counts, [1, 2])


def test_runs():
    x = np.array([5, 5, 2, 2, 2, 5])
    values, first, inverse, counts = computed(sorting.unique_consecutive, x)
    np.testing.assert_array_equal(values, [5, 2, 5])
    np.testing.assert_array_equal(first, [0, 2, 5])
    np.testing.assert_array_equal(inverse, [0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(counts, [2, 3, 1])
    values, *_ = computed(sorting.unique_consecutive, np.zeros(0, np.int64))
    assert values.shape == (0,)


def test_runs_of_rows():
    x = np.array([[1, 2], [1, 2], [1, 3]])
    values, _, inverse, counts = computed(lambda x: sorting.unique_consecutive(x, 0), x)
    np.testing.assert_array_equal(values, [[1, 2], [1, 3]])
    np.testing.assert_array_equal(inverse, [0, 0, 1])
    np.testing.assert_array_equal(counts, [2, 1])
