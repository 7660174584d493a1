"""Histograms and counts, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numpy.agreement import agrees, sample
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64"])
def test_histogram(dtype: str) -> None:
    x = sample(dtype, (5, 9), special=False)
    agrees("histogram", x)
    agrees("histogram_bin_edges", x, 7)
    agrees("histogram", x, 7, range=(-1, 4.5))
    agrees("histogram", x, np.array([-3.0, -1, 0, 2, 2, 7]))
    agrees("histogram", x, np.array([-3, 0, 4]), density=True)
    agrees("histogram", x, 4, weights=sample("float64", (5, 9), special=False))
    agrees("histogram", x[:0], 3)
    agrees("histogram", x[:1, :1], 3)


def test_histogram_with_weights() -> None:
    x = sample("float64", (30,), special=False)
    for dtype in ("int8", "int64", "float32", "complex64"):
        weights = sample(dtype, (30,), special=False)
        agrees("histogram", x, 5, weights=weights, scale=100, exact=False)
        # numpy adds narrow weights narrowly, and then divides widely.
        ulps = 4 if dtype == "int64" else 2**32
        agrees("histogram", x, 5, weights=weights, density=True, ulps=ulps, exact=False)


def test_histogram_leaves_out_what_falls_into_no_bin() -> None:
    x = np.array([np.nan, -np.inf, 0, 1, 2, 3, np.inf, 4])
    agrees("histogram", x, np.array([0.0, 1, 3]))
    agrees("histogram", x, 4, range=(0, 3))


def test_histogram_refuses() -> None:
    x = np.arange(4.0)
    agrees("histogram", x, 0)
    agrees("histogram", x, np.array([1, 0]))
    agrees("histogram", x, 3, range=(2, 1))
    agrees("histogram", np.array([1, np.inf]))
    agrees("histogram", x, weights=np.ones(3))


def test_several_coordinates() -> None:
    x, y = sample("float64", (20,), special=False), sample("float64", (20,), seed=1, special=False)
    agrees("histogram2d", x, y)
    agrees("histogram2d", x, y, [3, np.array([-2.0, 0, 2])], weights=y, scale=20)
    agrees("histogram2d", x, y, 4, range=[(-1, 1), (0, 5)], density=True)
    agrees("histogramdd", (x, y, x), 3)
    agrees("histogramdd", np.stack([x, y], 1), 3, recorded=False)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "uint64", "float32"])
def test_bincount(dtype: str) -> None:
    x = np.array([0, 1, 1, 5, 1, 0], dtype)
    agrees("bincount", x)
    agrees("bincount", x, minlength=9)
    agrees("bincount", x, weights=np.array([0.5, 1, 2, 3, -1, 4], np.float32))
    agrees("bincount", x[:0], minlength=2)
    agrees("bincount", x - x.dtype.type(1) if x.dtype.kind == "i" else x)
    agrees("bincount", x[None])


def test_all_kinds_of_arguments() -> None:
    assert disagreements("histograms", {"bincount": 2, "histogram": 2, "histogram_bin_edges": 2}) == []
