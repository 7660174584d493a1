"""Medians, quantiles and modes against numpy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import order_statistics
from tests.algorithms.running import computed

torch = pytest.importorskip("torch")
NAN = np.nan
X = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
HOLES = np.array([[1.0, NAN, 3.0, 2.0], [4.0, 3.0, 2.0, 1.0], [NAN, NAN, NAN, 7.0]], np.float32)


@pytest.mark.parametrize("x", [X, HOLES, np.array([[3, 1, 2], [5, 5, 4]])], ids=["float", "holes", "int"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ignores_nan", [False, True])
def test_median(x: Any, axis: int, ignores_nan: bool):
    value, place = computed(lambda x: order_statistics.median(x, axis, ignores_nan=ignores_nan), x)
    function = torch.nanmedian if ignores_nan else torch.median
    wanted = function(torch.tensor(x), axis, keepdim=True)
    np.testing.assert_array_equal(value, wanted.values.numpy())
    np.testing.assert_array_equal(np.take_along_axis(x, place, axis), value)


@pytest.mark.parametrize("axis", [0, 1])
def test_mode(axis: int):
    x = np.random.default_rng(1).integers(0, 3, (9, 7))
    value, place = computed(lambda x: order_statistics.mode(x, axis), x)
    np.testing.assert_array_equal(value, torch.mode(torch.tensor(x), axis, keepdim=True).values.numpy())
    np.testing.assert_array_equal(np.take_along_axis(x, place, axis), value)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quantiles(interpolation: Any, dtype: Any):
    x, q = X.astype(dtype), np.array([0.0, 0.1, 0.5, 0.93, 1.0], dtype)
    (found,) = computed(
        lambda x, q: order_statistics.quantile(x, q, interpolation=interpolation), x, q, tolerance=1e-6
    )
    wanted = np.quantile(x, q, axis=-1, method=interpolation)
    np.testing.assert_allclose(found, np.moveaxis(wanted, 0, -1), 1e-5)


@pytest.mark.parametrize("ignores_nan", [False, True])
def test_quantiles_of_what_is_no_number(ignores_nan: bool):
    q = np.array([0.25, 0.5], np.float32)
    (found,) = computed(
        lambda x, q: order_statistics.quantile(x, q, ignores_nan=ignores_nan), HOLES, q, tolerance=1e-6
    )
    wanted = (np.nanquantile if ignores_nan else np.quantile)(HOLES, q, axis=-1)
    np.testing.assert_allclose(found, np.moveaxis(wanted, 0, -1), 1e-6)
