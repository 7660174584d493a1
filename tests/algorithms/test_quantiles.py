"""Quantiles by every method, and medians between two elements, against numpy; at infinity against torch, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import quantiles
from onnxsmith.types.dtypes import DType
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

NAN, INF = np.nan, np.inf
X = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
HOLES = np.array([[1.0, NAN, 3.0, 2.0], [4.0, 3.0, 2.0, 1.0], [NAN, NAN, NAN, 7.0]], np.float32)
PARTS = [0.0, 0.01, 0.1, 0.25, 0.5, 0.93, 1.0]


@pytest.mark.parametrize("takes_next", [False, True])
@pytest.mark.parametrize("method", quantiles.METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quantiles(method: Any, dtype: Any, takes_next: bool):
    x, q = X.astype(dtype), np.array(PARTS, dtype)
    (found,) = computed(
        lambda x, q: quantiles.quantile(x, q, method, takes_next=takes_next), x, q, tolerance=1e-6
    )
    wanted = np.quantile(x, q, axis=-1, method=method)
    np.testing.assert_allclose(found, np.moveaxis(wanted, 0, -1), 1e-5)


@pytest.mark.parametrize("method", quantiles.METHODS)
@pytest.mark.parametrize("ignores_nan", [False, True])
def test_quantiles_of_what_is_no_number(method: Any, ignores_nan: bool):
    q = np.array(PARTS, np.float32)
    (found,) = computed(
        lambda x, q: quantiles.quantile(x, q, method, ignores_nan=ignores_nan), HOLES, q, tolerance=1e-6
    )
    wanted = (np.nanquantile if ignores_nan else np.quantile)(HOLES, q, axis=-1, method=method)
    np.testing.assert_allclose(found, np.moveaxis(wanted, 0, -1), 1e-6)


def test_all_are_no_numbers():
    x, q = np.full((2, 3), NAN, np.float32), np.array(PARTS, np.float32)
    (found,) = computed(lambda x, q: quantiles.quantile(x, q, ignores_nan=True), x, q)
    assert np.isnan(found).all()


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_infinity_as_torch_has_it(interpolation: Any):
    x = np.array([[1.0, 2.0, INF], [-INF, 0.0, INF], [-INF, -INF, 3.0]], np.float32)
    q = np.array([0.0, 0.25, 0.5, 1.0], np.float32)
    (found,) = computed(lambda x, q: quantiles.quantile(x, q, interpolation, takes_next=False), x, q)
    wanted = torch.quantile(torch.tensor(x), torch.tensor(q), dim=1, interpolation=interpolation)
    np.testing.assert_array_equal(found, wanted.numpy().T)


@pytest.mark.parametrize("ignores_nan", [False, True])
def test_median_of_two(ignores_nan: bool):
    (found,) = computed(lambda x: quantiles.median(x, DType.FLOAT, ignores_nan=ignores_nan), HOLES)
    np.testing.assert_array_equal(found, (np.nanmedian if ignores_nan else np.median)(HOLES, axis=-1))


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("quantiles") == []
