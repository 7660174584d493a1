"""Convolutions and interpolation, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, INT64
from onnxsmith.errors import OnnxsmithError
from tests.numpy.agreement import ALL, agrees, sample, some
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolution(name: str, dtype: str) -> None:
    for sizes in some(dtype, ((5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (1, 4))):
        a, v = (sample(dtype, (size,), seed, special=False) for seed, size in enumerate(sizes))
        for mode in ("full", "same", "valid"):
            agrees(name, a, v, mode, scale=200)
    x = sample(dtype, (3,))
    agrees(name, x, x[:0])
    agrees(name, x, x, "most")


def test_convolution_of_different_types() -> None:
    agrees("convolve", np.array([1, 2, 3]), np.array([0.5, 1]))
    agrees("correlate", np.array([1, 2, 3], np.uint8), np.array([1j, 1]))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolution_of_many(name: str) -> None:
    for dtype in ("int64", "float32", "float64", "complex128"):
        for sizes in ((100, 7), (7, 100), (33, 17), (16, 16), (400, 300)):
            a, v = (sample(dtype, (size,), seed, special=False) for seed, size in enumerate(sizes))
            for mode in ("full", "same", "valid"):
                agrees(name, a, v, mode, scale=2000)


def test_what_is_not_finite_stays_where_it_is_convolved() -> None:
    x = np.arange(40.0)
    x[[3, 20]] = np.inf, np.nan
    for mode in ("full", "same", "valid"):
        agrees("convolve", x, np.array([1.0, 2, 3]), mode)
        agrees("convolve", np.arange(1.0, 9), np.array([1, np.inf, -2]), mode)


def _convolved(x: Any, y: Any) -> Any:
    return np.convolve(x, y)


@pytest.mark.parametrize("dtype", [DOUBLE, INT64])
def test_nothing_to_convolve_is_refused_by_the_model(dtype: Any) -> None:
    model = xp.to_model(_convolved, dtype["N"], dtype["M"])
    some = np.ones(3, np.float64 if dtype is DOUBLE else np.int64)
    np.testing.assert_array_equal(model(some, some), np.convolve(some, some))
    for x, y in ((some, some[:0]), (some[:0], some)):
        with pytest.raises(OnnxsmithError):
            model(x, y)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex64"])
def test_interp(dtype: str) -> None:
    points = np.array([-2.0, -1, 0.5, 0.5, 3])
    heights = sample(dtype, (5,), special=False)
    x = np.array([[-5, -2, -1.5, 0.5, 0.6], [3, 4, np.nan, np.inf, -np.inf]])
    agrees("interp", x, points, heights)
    agrees("interp", x, points, heights, left=7, right=-1)
    agrees("interp", x[0], points * 0.7 + np.arange(5) / 8, heights, period=4)
    agrees("interp", 0.25, points, heights)
    agrees("interp", x, points[:1], heights[:1])
    agrees("interp", x, points, heights[:4])
    agrees("interp", x, points[:0], heights[:0])


def test_interp_beside_infinities() -> None:
    points = np.array([0.0, 1, 2, np.inf])
    for heights in ([0, np.inf, np.inf, 1], [-np.inf, 0, np.inf, np.nan], [1, 1, np.nan, 1]):
        agrees("interp", np.array([0, 0.5, 1, 1.5, 2, 3, np.inf]), points, np.array(heights))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("signals") == []
