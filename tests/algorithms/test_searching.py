"""Searching in what is sorted, and membership, against numpy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import searching
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

NAN, INF = np.nan, np.inf
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "uint64", "bool")


def _ties(dtype: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 3, shape).astype(dtype)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_search(right: bool, dtype: str):
    sequence = np.sort(_ties(dtype, 9))
    values = _ties(dtype, 4, 5)
    (found,) = computed(lambda a, v: searching.search_sorted(a, v, right=right), sequence, values)
    np.testing.assert_array_equal(found, np.searchsorted(sequence, values, side="right" if right else "left"))


def test_search_in_each_row():
    rows = np.sort(np.random.default_rng(2).normal(size=(3, 7)), axis=1)
    values = np.random.default_rng(3).normal(size=(3, 4))
    (found,) = computed(searching.search_sorted, rows, values)
    np.testing.assert_array_equal(found, [np.searchsorted(a, v) for a, v in zip(rows, values, strict=True)])


def test_search_in_nothing():
    (found,) = computed(searching.search_sorted, np.zeros(0, np.float32), np.zeros(3, np.float32))
    np.testing.assert_array_equal(found, np.zeros(3))


@pytest.mark.parametrize("right", [False, True])
def test_what_is_no_number(right: bool):
    rows = np.array([-INF, 1.0, 1.0, np.finfo(np.float32).max, INF, NAN, NAN], np.float32)
    values = np.array([NAN, INF, -INF, 1.0, np.finfo(np.float32).max, 2.0, -0.0], np.float32)
    (found,) = computed(lambda a, v: searching.places_for(a, v, right=right), rows, values)
    np.testing.assert_array_equal(found, np.searchsorted(rows, values, side="right" if right else "left"))
    (found,) = computed(lambda a, v: searching.search_sorted(a, v, right=right), rows, values)
    wanted = torch.searchsorted(torch.from_numpy(rows), torch.from_numpy(values), right=right)
    np.testing.assert_array_equal(found, wanted.numpy())


def _is_in(x: Any, among: Any) -> Any:
    return searching.is_in(Field(x), Field(among))


@pytest.mark.parametrize("count", [0, 1, 3, 100])
@pytest.mark.parametrize("dtype", DTYPES)
def test_membership(count: int, dtype: str):
    x, among = _ties(dtype, 4, 5), np.random.default_rng(5).integers(1, 50, count).astype(dtype)
    (found,) = computed(_is_in, x, among)
    np.testing.assert_array_equal(found, np.isin(x, among))


@pytest.mark.parametrize("count", [8, 80])
def test_nothing_is_equal_to_what_is_no_number(count: int):
    x = np.array([NAN, INF, -INF, 0.0, -0.0, np.finfo(np.float64).max, 1.0])
    (found,) = computed(_is_in, x, np.resize(np.array([NAN, INF, 0.0, 5.0]), count))
    np.testing.assert_array_equal(found, [False, True, False, True, True, False, False])


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("sorting", {"partition": 3, "searchsorted": 4}) == []
