"""Means and variances, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, FLOATS, agrees, sample, some
from tests.numpy.every_argument import disagreements
from tests.numpy.test_reductions import AXES, magnitude


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_statistic(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, AXES):
        for special in (False, True):
            x = sample(dtype, shape, special=special)
            scale = magnitude(x) ** 2 if name != "mean" and special else magnitude(x)
            agrees(name, x, axis=axis, keepdims=special, scale=scale)


@pytest.mark.parametrize("name", ["var", "std"])
def test_degrees_of_freedom(name: str) -> None:
    for dtype in ("int32", "float32", "complex64"):
        x = sample(dtype, (3, 4), special=False)
        for ddof in (1, 2.5, 4, 5):
            agrees(name, x, axis=1, ddof=ddof, scale=magnitude(x))
            agrees(name, x, axis=0, correction=ddof, scale=magnitude(x))
        agrees(name, x, axis=1, mean=x.mean(axis=1, keepdims=True), scale=magnitude(x))
        agrees(name, x, ddof=1, correction=1)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_element_type_and_where(name: str) -> None:
    for shape, axis in AXES:
        x, mask = sample("float32", shape, special=False), sample("bool", shape[-1:])
        agrees(name, x, axis=axis, where=mask, scale=magnitude(x))
        agrees(name, x, axis=axis, dtype="float64", scale=magnitude(x), exact=False)


def test_variances_of_many() -> None:
    rng = np.random.default_rng(2)
    for dtype in FLOATS:
        x = rng.normal(100, 1, (20, 3000)).astype(dtype)
        for axis in (0, 1, None):
            agrees("var", x, axis=axis, recorded=False)


def test_average() -> None:
    for dtype in ("int32", "float32", "float64", "complex64"):
        for shape, axis in AXES[:8]:
            if axis == ():
                continue
            x, weights = sample(dtype, shape, special=False), sample("float32", shape, special=False) + 20
            for given in (None, weights):
                agrees("average", x, axis=axis, weights=given, returned=True, scale=magnitude(x) * 20)
                agrees("average", x, axis=axis, weights=given, keepdims=True, scale=magnitude(x) * 20)
        x = sample(dtype, (3, 4), special=False)
        agrees("average", x, axis=1, weights=np.array([1, 2, 3, 4]), scale=magnitude(x))
        agrees("average", x, weights=np.array([1, 2, 3, 4]))
        agrees("average", x, axis=0, weights=np.array([1, 2, 3, 4]))
    x = sample("float64", (2, 3, 4), special=False)
    agrees("average", x, axis=(2, 0), weights=np.arange(8.0).reshape(4, 2), scale=magnitude(x))
    with pytest.raises(ZeroDivisionError):
        xp.average(xp.ones(2), weights=xp.asarray([1, -1]))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("statistics") == []
