"""Medians and quantiles, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.quantiles import METHODS
from tests.numpy.agreement import agrees, sample, some
from tests.numpy.every_argument import disagreements

SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((7,), None),
    ((4, 6), 0),
    ((4, 6), 1),
    ((2, 3, 4), (0, 2)),
]
DTYPES = ["int8", "uint64", "float16", "float32"]


@pytest.mark.parametrize("dtype", ["bool", *DTYPES])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median(name: str, dtype: str) -> None:
    for shape, axis in some(dtype, [*SHAPES, ((0,), None), ((0, 3), 0), ((0, 3), 1)]):
        for special in (False, True):
            agrees(name, sample(dtype, shape, special=special), axis=axis, keepdims=special)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
def test_quantile(method: str, dtype: str) -> None:
    for shape, axis in some(dtype, SHAPES):
        x = sample(dtype, shape, special=False)
        for q in (0.3, np.array([0.0, 0.25, 0.5, 0.9, 1.0])):
            agrees("quantile", x, q, axis=axis, method=method, scale=10)
    agrees(
        "percentile", sample(dtype, (3, 8), special=False), 35, axis=1, method=method, keepdims=True, scale=10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("method", ["linear", "lower", "midpoint", "inverted_cdf", "weibull"])
def test_nan(name: str, method: str, dtype: str) -> None:
    x = sample(dtype, (3, 8), special=False)
    x[0, 2] = x[2, 1] = x[2, 5] = np.nan
    for axis in (0, 1, None):
        agrees(name, x, np.array([0.1, 0.5, 0.75]), axis=axis, method=method, scale=10)
    agrees(name, np.array([[np.nan, np.nan], [1, 2]], dtype), 0.5, axis=1, method=method)


def test_options() -> None:
    x = sample("float64", (3, 4), special=False)
    agrees("quantile", x, np.array([[0.1, 0.2], [0.3, 0.4]]), axis=1)
    agrees("quantile", x, 1)
    agrees("quantile", np.arange(5), np.array([0, 1]))
    agrees("percentile", x.astype(np.float32), np.array([10, 20], np.float32), axis=0)
    agrees("quantile", np.zeros(0), 0.5)
    agrees("nanquantile", np.zeros((0, 2)), 0.5, axis=0)
    agrees("quantile", x, 1.5)
    agrees("percentile", x, -1)
    agrees("quantile", x, 0.5, method="middle")
    agrees("quantile", x.astype(complex), 0.5)
    agrees("quantile", x > 0, 0.3)


@pytest.mark.skipif(int(np.__version__.partition(".")[0]) < 2, reason="numpy has weights since 2.0")
@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_weights(name: str, dtype: str) -> None:
    scale = 100 if "percentile" in name else 1
    x = sample(dtype, (3, 5), special=False)
    holes = sample(dtype, (3, 5)) if dtype != "int64" else x
    each = np.abs(sample("float64", (3, 5), 4, special=False))
    along = np.array([0.0, 2, 1, 0, 3])

    def with_all_weights(a: Any, q: Any, **options: Any) -> Any:
        """numpy's functions without NaN fail where weights are given along an axis."""
        options["weights"] = np.broadcast_to(options["weights"], a.shape)
        return getattr(np, name)(a, q, **options)

    for q in (0.3, np.array([0.0, 0.25, 0.5, 1.0])):
        for data in (x, holes):
            for axis in (None, 0, 1, (0, 1)):
                agrees(name, data, q * scale, axis=axis, method="inverted_cdf", weights=each, exact=False)
            for keepdims in (False, True):
                agrees(
                    name,
                    data,
                    q * scale,
                    axis=1,
                    method="inverted_cdf",
                    keepdims=keepdims,
                    weights=along,
                    exact=False,
                    theirs=with_all_weights,
                )
    turned = each.T.copy()
    agrees(
        name, x, 0.5 * scale, axis=(1, 0), method="inverted_cdf", weights=turned, exact=False, recorded=False
    )
    agrees(name, x, 0.5 * scale, axis=1, weights=along)
    agrees(name, x, 0.5 * scale, method="inverted_cdf", weights=along)
    agrees(name, x, 0.5 * scale, axis=0, method="inverted_cdf", weights=along)
    agrees(name, x, 0.5 * scale, axis=1, method="inverted_cdf", weights=-along)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("quantiles") == []
