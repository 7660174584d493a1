"""Differences, slopes and areas, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numpy.agreement import ALL, agrees, sample
from tests.numpy.every_argument import disagreements
from tests.numpy.test_reductions import magnitude


@pytest.mark.parametrize("dtype", ALL)
def test_diff(dtype: str) -> None:
    for shape, axis in [((7,), -1), ((3, 4), 0), ((3, 4), 1), ((1, 3), 0), ((0, 3), 1)]:
        x = sample(dtype, shape)
        for n in (0, 1, 2, 3):
            agrees("diff", x, n=n, axis=axis, scale=magnitude(x))
        agrees("diff", x, axis=axis, prepend=0, scale=magnitude(x))
        agrees("diff", x, axis=axis, append=x, scale=magnitude(x))
    agrees("diff", np.array(1))
    agrees("diff", np.arange(3), n=-1)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "complex64", "bool"])
def test_ediff1d(dtype: str) -> None:
    x = sample(dtype, (2, 3))
    agrees("ediff1d", x)
    agrees("ediff1d", x, to_end=np.array([1, 2], dtype), to_begin=np.array([[3], [4]], dtype))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_trapezoid(dtype: str) -> None:
    for shape, axis in [((7,), -1), ((3, 4), 0), ((3, 4), 1), ((1, 3), 0), ((0, 3), 1)]:
        y = sample(dtype, shape, special=False)
        agrees("trapezoid", y, axis=axis, scale=magnitude(y))
        agrees("trapezoid", y, dx=0.5, axis=axis, scale=magnitude(y))
        x = np.cumsum(np.ones(shape[axis])) ** 2
        agrees("trapezoid", y, x, axis=axis, scale=magnitude(y) * 20)
        agrees(
            "trapezoid",
            y,
            np.broadcast_to(x, y.shape) if axis in (1, -1) else y * 2,
            axis=axis,
            scale=magnitude(y) * 20,
        )


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_gradient(dtype: str) -> None:
    f = sample(dtype, (4, 5), special=False)
    size = magnitude(f) * 10
    for order in (1, 2):
        agrees("gradient", f, edge_order=order, scale=size)
        agrees("gradient", f, 2.0, axis=1, edge_order=order, scale=size)
        agrees("gradient", f, 2.0, 0.5, edge_order=order, scale=size)
        agrees("gradient", f, np.array([0.0, 1, 3, 4.5]), 0.5, edge_order=order, scale=size)
        agrees("gradient", f, np.array([0.0, 1, 3, 4.5]), axis=0, edge_order=order, scale=size)
    agrees("gradient", f[:1], axis=0)
    agrees("gradient", f, np.array([0.0, 1]), axis=0)
    agrees("gradient", f, 1.0, 2.0, 3.0)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_unwrap(dtype: str) -> None:
    x = (np.random.default_rng(3).normal(0, 6, (3, 8))).astype(dtype)
    for axis in (0, 1):
        agrees("unwrap", x, axis=axis, scale=100)
        agrees("unwrap", x, axis=axis, period=4, scale=100)
        agrees("unwrap", x, axis=axis, period=5, discont=4, scale=100)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("differences") == []
