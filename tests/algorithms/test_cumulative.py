"""Running sums, products and extremes against numpy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import cumulative
from onnxsmith.algorithms.operators import op
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_and_products(axis: int):
    np.testing.assert_allclose(computed(lambda x: cumulative.cumsum(x, axis), X)[0], X.cumsum(axis), 1e-5)
    np.testing.assert_allclose(
        computed(lambda x: cumulative.cumprod(x, axis), X, tolerance=1e-6)[0], X.cumprod(axis), 1e-5
    )


@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 9])
def test_running_of_any_length(length: int):
    x = np.arange(1, length + 1, dtype=np.int64)
    (found,) = computed(lambda x: cumulative.running([x], 0, lambda a, b: [op.Mul(a[0], b[0])])[0], x)
    np.testing.assert_array_equal(found, x.cumprod())


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize(
    "x",
    [
        X,
        np.array([[1.0, np.nan, 2.0, 1.0, np.nan, 0.0]], np.float32),
        np.array([[2, 2, 1, 3, 3, 1]]),
        np.array([[True, False, True]]),
    ],
)
def test_extremes(name: str, x: Any):
    values, places = computed(lambda x: getattr(cumulative, name)(x, 1), x)
    wanted = getattr(torch, name)(torch.tensor(x), 1)
    np.testing.assert_array_equal(values, wanted.values.numpy())
    np.testing.assert_array_equal(places, wanted.indices.numpy())


def test_log_of_sums():
    x = np.array([[-np.inf, 1.0, 800.0, 2.0], [np.inf, 1.0, np.inf, -np.inf]], np.float64)
    (found,) = computed(lambda x: cumulative.logcumsumexp(x, 1), x)
    np.testing.assert_allclose(found, torch.logcumsumexp(torch.tensor(x), 1).numpy(), 1e-14)
    (found,) = computed(cumulative.logaddexp, x[0], x[1])
    np.testing.assert_allclose(found, np.logaddexp(x[0], x[1]), 1e-14)


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("cumulative", {"cumprod": 1, "nancumprod": 1}) == []
