"""Quotients and remainders against numpy: integers of every width with their ends, zero divisors, fractions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import division
from onnxsmith.algorithms.values import constant
from tests.algorithms.running import computed

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
NAMES = {"floor_divide": np.floor_divide, "remainder": np.remainder, "truncated_remainder": np.fmod}


def _whole(dtype: str) -> tuple[Any, Any]:
    """Every pair of some small numbers and of some close to the ends."""
    ends = np.iinfo(dtype)
    few = {0, 1, 2, 3, 7, 12, 100, ends.max, ends.max - 1, ends.min, ends.min + 1}
    if ends.min:
        few |= {-1, -2, -7, -12}
    x = np.array(sorted(few), dtype).reshape(-1, 1)
    return x, x.reshape(1, -1)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", NAMES)
def test_integers(name: str, dtype: str):
    x, y = _whole(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(getattr(division, name), x, y)[0], NAMES[name](x, y))
        both = computed(division.floor_divide_and_remainder, x, y)
        for found, wanted in zip(both, np.divmod(x, y), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("divisor", [3, -3, -1, 0])
@pytest.mark.parametrize("name", NAMES)
def test_a_divisor_that_is_known(name: str, divisor: int):
    x, y = _whole("int32")[0], np.int32(divisor)
    (found,) = computed(lambda x: getattr(division, name)(x, constant(y)), x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, NAMES[name](x, y))


def _fractions(dtype: str) -> tuple[Any, Any]:
    x = np.array([1.0, -1.0, 7.5, -7.5, 0.3, 1e10, 0.0, -0.0, np.inf, -np.inf, np.nan], dtype).reshape(-1, 1)
    y = np.array([0.1, -0.1, 2.0, -2.0, 3.0, 0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    return x, y


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_fractions(name: str, dtype: str):
    x, y = _fractions(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(getattr(division, name), x, y)[0], NAMES[name](x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_signs_of_zeros(dtype: str):
    x, y = _fractions(dtype)
    both = computed(lambda x, y: division.floor_divide_and_remainder(x, y, signs_zero=True), x, y)
    with np.errstate(all="ignore"):
        for found, wanted in zip(both, np.divmod(x, y), strict=True):
            np.testing.assert_array_equal(found, wanted)
            is_zero = wanted == 0
            np.testing.assert_array_equal(np.signbit(found)[is_zero], np.signbit(wanted)[is_zero])
