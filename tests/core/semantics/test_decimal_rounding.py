"""`round` of Python's numbers that only the model knows, beside Python's own, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import AttributeValueError

DIGITS = (-6, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 17, 22)


def _hard(digits: int) -> Any:
    """Floats beside decimals that end in a half, of every size, and what is no number."""
    rng = np.random.default_rng(digits + 100)
    halves = (rng.integers(-(10**6), 10**6, 400) + 0.5) / 10.0**digits
    near = np.concatenate([halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)])
    wide = rng.normal(size=400) * 10.0 ** rng.integers(-30, 30, 400)
    ends = [0.0, -0.0, 2.675, 1.005, 5e-324, 1.7e308, 2.0**52 + 0.5, 2.0**53, np.nan, np.inf, -np.inf]
    return np.concatenate([near, wide, ends])


@pytest.mark.parametrize("digits", DIGITS)
def test_floats_are_rounded_as_python_rounds_them(digits: int):
    """The law: the float that is nearest to the decimal, with its sign."""

    def rounded(x):
        return [round(float(v), digits) for v in x]

    x = _hard(digits)
    found, expected = xp.jit(rounded)(x), rounded(x)
    np.testing.assert_array_equal(found, expected)
    assert [math.copysign(1, each) for each in found if each == each] == [
        math.copysign(1, each) for each in expected if each == each
    ]


@pytest.mark.parametrize("digits", [-1, -2, -5, -18, 0, 3])
def test_whole_numbers_are_rounded_exactly(digits: int):
    def rounded(x):
        return [round(int(v), digits) for v in x]

    rng = np.random.default_rng(7)
    scale = 10 ** max(-digits, 0)
    halves = rng.integers(-50, 50, 200) * scale + scale // 2 if scale < 10**15 else np.array([scale // 2])
    x = np.concatenate([halves, halves + 1, rng.integers(-(2**62), 2**62, 200), [123456789012345678]])
    assert xp.jit(rounded)(x) == rounded(x)


def test_a_float_that_rounds_past_the_last_one_raises_as_python_does():
    def rounded(x):
        return round(float(x[0]), -22)

    fast = xp.jit(rounded)
    assert fast(np.array([1.5e22])) == rounded(np.array([1.5e22]))


def test_digits_that_no_power_of_ten_has_are_refused():
    with pytest.raises(AttributeValueError, match="ask for 22 digits"):
        xp.jit(lambda x: round(float(x[0]), 30))(np.ones(1))
    assert xp.jit(lambda x: round(float(x[0]), 400))(np.array([1.25])) == 1.25


def test_quotients_and_remainders_of_floats_have_the_signs_of_pythons():
    def divided(x, y):
        return [(float(a) // float(b), float(a) % float(b)) for a, b in zip(x, y)]  # noqa: B905

    values = [0.0, -0.0, 2.0, -2.0, 1.5, -1.5, 3.0, math.inf, -math.inf]
    pairs = [(a, b) for a in values for b in values if b and math.isfinite(a)]
    x, y = (np.array(each) for each in zip(*pairs, strict=True))
    found, expected = xp.jit(divided)(x, y), divided(x, y)
    assert [list(map(repr, map(float, each))) for each in found] == [
        list(map(repr, map(float, each))) for each in expected
    ]
