"""Odd functions are odd to the last bit, as numpy's are: sums that cancel there cancel here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp

ODD = (
    "sin",
    "tan",
    "sinh",
    "tanh",
    "arcsin",
    "arctan",
    "arcsinh",
    "arctanh",
    "cbrt",
    "sign",
    "rint",
    "trunc",
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore")
def test_odd(name: str, dtype: Any) -> None:
    draw = np.random.default_rng(0)
    numbers = draw.normal(size=5000) * draw.choice([1e-3, 0.3, 1.0, 5.0], 5000)
    x = np.concatenate([numbers, [0.0, 0.5, 1.0, 2.0, np.inf]]).astype(dtype)
    function = getattr(xp, name)
    one, other = np.asarray(function(xp.asarray(x))), np.asarray(function(xp.asarray(-x)))
    np.testing.assert_array_equal(one, -other)
