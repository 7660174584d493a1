"""Orders against numpy: every element type, NaN, both infinities, the ends of each type, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import sorting
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

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


FLOATS = ("float16", "float32", "float64")


def _hostile(dtype: str) -> np.ndarray:
    ends = np.finfo(dtype)
    few = [
        INF,
        ends.max,
        NAN,
        -INF,
        ends.min,
        0.0,
        -0.0,
        ends.smallest_subnormal,
        -ends.tiny,
        1.0,
        NAN,
        ends.max,
        INF,
    ]
    return np.array(few, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinity_is_greater_than_the_largest_number(dtype: str):
    x = _hostile(dtype)
    values, places = computed(lambda x: sorting.sort(x, 0), x)
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_descending_what_is_no_number_comes_first(dtype: str):
    x = _hostile(dtype)
    values, places = computed(lambda x: sorting.sort(x, 0, descending=True), x)
    expected = torch.sort(torch.from_numpy(x), descending=True, stable=True)
    np.testing.assert_array_equal(values, expected.values.numpy())
    np.testing.assert_array_equal(places, expected.indices.numpy())


@pytest.mark.parametrize("dtype", [*DTYPES, "int16", "uint16", "uint32"])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_first_few_are_those_of_all(dtype: str, count: int):
    x = _hostile(dtype) if dtype in FLOATS else _ties(dtype, 11)
    values, places = computed(lambda x: sorting.sort(x, 0, count=count), x)
    every, order = computed(lambda x: sorting.sort(x, 0), x)
    np.testing.assert_array_equal(values, every[:count])
    np.testing.assert_array_equal(places, order[:count])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint8"])
def test_the_ends_of_integers(dtype: str):
    ends = np.iinfo(dtype)
    x = np.array([ends.max, ends.min, ends.max - 1, 0, ends.min + 1, ends.max], dtype)
    values, places = computed(lambda x: sorting.sort(x, 0), x)
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


def test_complex_numbers_are_ordered_by_both_parts():
    parts = [0.0, -1.0, INF, -INF, NAN, np.finfo(np.float64).max]
    z = np.array([complex(a, b) for a in parts for b in parts])
    z = np.random.default_rng(4).permutation(z)

    def order(re: Any, im: Any) -> Any:
        return sorting.order(Field(re, im), 0)

    (places,) = computed(order, z.real.copy(), z.imag.copy())
    np.testing.assert_array_equal(places, np.argsort(z, kind="stable"))


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


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("sorting", {"partition": 3, "searchsorted": 4}) == []
