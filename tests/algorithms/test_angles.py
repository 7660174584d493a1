"""Angles and lengths in the plane against numpy, at zeros with signs, infinities and the ends of each type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import angles
from tests.algorithms.running import computed

HOSTILE = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, np.inf, -np.inf, np.nan]
FLOATS = ("float32", "float64")
OPSETS = [20, 26]


def _pair(dtype: str) -> tuple[Any, Any]:
    ends = np.finfo(dtype)
    x = np.array(
        [*HOSTILE, ends.max, ends.min, ends.tiny, -ends.tiny, ends.smallest_subnormal, 1024.0], dtype
    )
    return x.reshape(-1, 1), x.reshape(1, -1)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_angles(dtype: str, opset: int):
    y, x = _pair(dtype)
    (found,) = computed(angles.atan2, y, x, opset=opset)
    wanted = np.arctan2(y, x)
    np.testing.assert_allclose(found, wanted, 4 * np.finfo(dtype).eps, np.finfo(dtype).tiny)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("dtype", FLOATS)
def test_angles_of_many_points(dtype: str):
    rng = np.random.default_rng(0)
    y, x = (np.exp(rng.normal(0, 9, 2000)) * rng.choice([-1, 1], 2000) for _ in range(2))
    y, x = y.astype(dtype), x.astype(dtype)
    (found,) = computed(angles.atan2, y, x)
    wanted = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(found, wanted, 2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
def test_lengths(dtype: str):
    x, y = _pair(dtype)
    with np.errstate(over="ignore"):
        found, wanted = computed(angles.hypot, x, y)[0], np.hypot(x, y)
    # Subnormal lengths of doubles are off by at most one step.
    least = np.finfo(dtype).smallest_subnormal
    np.testing.assert_allclose(found, wanted, 2 * np.finfo(dtype).eps, float(least))
