"""Signs, exponents, neighbours, quotients and angles against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import floating_point
from tests.algorithms.running import computed

INF, NAN = np.inf, np.nan
HOSTILE = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, INF, -INF, NAN]
FLOATS = ("float32", "float64")


def _pair(dtype: str) -> tuple[Any, Any]:
    ends = np.finfo(dtype)
    x = np.array([*HOSTILE, ends.max, ends.tiny, -ends.tiny, ends.smallest_subnormal, 1024.0], dtype)
    return x.reshape(-1, 1), x.reshape(1, -1)


def _signs_agree(found: Any, wanted: Any) -> None:
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
def test_signs(dtype: str):
    x = np.array([0.0, -0.0, 1.0, -1.0, INF, -INF], dtype)
    np.testing.assert_array_equal(computed(floating_point.signbit, x)[0], np.signbit(x))
    (found,) = computed(floating_point.copysign, x.reshape(-1, 1), x)
    np.testing.assert_array_equal(found, np.copysign(x.reshape(-1, 1), x))
    _signs_agree(found, np.copysign(x.reshape(-1, 1), x))


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
def test_extremes_of_two(name: str, dtype: str):
    x, y = _pair(dtype) if dtype in FLOATS else (np.array([[0], [1]], dtype), np.array([0, 1], dtype))
    np.testing.assert_array_equal(computed(getattr(floating_point, name), x, y)[0], getattr(np, name)(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_towards_zero(dtype: str):
    x = _pair(dtype)[0]
    np.testing.assert_array_equal(computed(floating_point.trunc, x)[0], np.trunc(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients(dtype: str):
    x = np.array([1.0, -1.0, 7.5, -7.5, 0.3, 1e10], dtype).reshape(-1, 1)
    y = np.array([0.1, -0.1, 2.0, -2.0, 3.0], dtype)
    np.testing.assert_array_equal(computed(floating_point.floor_divide, x, y)[0], np.floor_divide(x, y))
    np.testing.assert_array_equal(computed(floating_point.remainder, x, y)[0], np.remainder(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_angles(dtype: str):
    y, x = _pair(dtype)
    (found,) = computed(floating_point.atan2, y, x)
    wanted = np.arctan2(y, x)
    np.testing.assert_allclose(found, wanted, 4 * np.finfo(dtype).eps, np.finfo(dtype).tiny)
    _signs_agree(found, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_lengths(dtype: str):
    x, y = _pair(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(
            computed(floating_point.hypot, x, y)[0], np.hypot(x, y), 4 * np.finfo(dtype).eps
        )


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
def test_parts(dtype: str):
    x = _pair(dtype)[0]
    mantissa, exponent = computed(floating_point.frexp, x)
    wanted, power = np.frexp(x)
    np.testing.assert_array_equal(mantissa, wanted)
    np.testing.assert_array_equal(exponent[np.isfinite(x)], power[np.isfinite(x)])


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
def test_neighbours(dtype: str):
    x, y = _pair(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(computed(floating_point.nextafter, x, y)[0], np.nextafter(x, y))
