"""Whole numbers against numpy: bits, shifts, divisors, powers, with the ends of every element type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import integers
from tests.algorithms.running import computed

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _pair(dtype: str) -> tuple[Any, Any]:
    """Every pair of small numbers, and of some close to the ends."""
    ends = np.iinfo(dtype)
    middle = ends.max // 2 + 1  # of unsigned ones the number whose bits are those of the lowest signed one
    few = {0, 1, 2, 3, 7, 12, 100, ends.max, ends.max - 1, ends.min, middle}
    if ends.min:
        few |= {-1, -2, -7, -12}
    x = np.array(sorted(few), dtype).reshape(-1, 1)
    return x, x.reshape(1, -1)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(dtype: str, name: str):
    x, y = _pair("int8")
    x, y = x.astype(dtype), y.astype(dtype)
    np.testing.assert_array_equal(computed(getattr(integers, name), x, y)[0], getattr(np, name)(x, y))
    np.testing.assert_array_equal(computed(integers.bitwise_not, x)[0], np.bitwise_not(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_how_many_bits(dtype: str):
    x = _pair(dtype)[0]
    wanted = np.vectorize(lambda each: int(each).bit_count())(x)
    np.testing.assert_array_equal(computed(integers.bit_count, x)[0], wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shifts(dtype: str):
    x = _pair(dtype)[0]
    y = np.arange(np.dtype(dtype).itemsize * 8 + 2, dtype=dtype)
    np.testing.assert_array_equal(computed(integers.shift_left, x, y)[0], np.left_shift(x, y))
    np.testing.assert_array_equal(computed(integers.shift_right, x, y)[0], np.right_shift(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_divisors(dtype: str):
    x, y = _pair(dtype)
    np.testing.assert_array_equal(computed(integers.gcd, x, y)[0], np.gcd(x, y))
    np.testing.assert_array_equal(computed(integers.gcd, x[:0], y)[0], np.gcd(x[:0], y))
    np.testing.assert_array_equal(computed(integers.lcm, x, y)[0], np.lcm(x, y))
    np.testing.assert_array_equal(computed(integers.lcm, x[:0], y)[0], np.lcm(x[:0], y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers(dtype: str):
    x = _pair(dtype)[0]
    y = np.array([*range(9), np.iinfo(dtype).max // 2 + 1, np.iinfo(dtype).max], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(integers.power, x, y)[0], np.power(x, y))
        np.testing.assert_array_equal(computed(lambda x: integers.whole_power(x, 13), x)[0], x**13)
    np.testing.assert_array_equal(computed(integers.power, x[:0], y)[0], np.power(x[:0], y))


def test_powers_below_zero_are_cut():
    x = np.array([-2, -1, 1, 2], np.int64)
    np.testing.assert_array_equal(computed(integers.power, x, np.array([-3]))[0], [0, -1, 1, 0])


@pytest.mark.parametrize("keepdim", [False, True])
def test_exclusive_or_of_all(keepdim: bool):
    x = np.random.default_rng(0).integers(0, 2**63, (4, 5), np.uint64) * np.uint64(2)
    (found,) = computed(lambda x: integers.reduced_by_xor(x, 1, keepdim), x)
    np.testing.assert_array_equal(found, np.bitwise_xor.reduce(x, axis=1, keepdims=keepdim))
