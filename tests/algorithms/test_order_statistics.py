"""Medians and modes with their places, against torch."""

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
