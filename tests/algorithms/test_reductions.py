"""Sums, products, extremes and variances along dimensions against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import reductions
from tests.algorithms.running import computed

NAN = np.nan
X = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
HOLES = np.array([[1.0, NAN, 3.0], [4.0, -np.inf, np.inf]], np.float32)
WHOLE = np.random.default_rng(1).integers(-9, 9, (3, 4, 5))
DIMS = [None, 0, 2, (0, 2), (1,)]


def _axis(dims: Any) -> Any:
    return tuple(range(3)) if dims is None else dims


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_wrap_around(dims: Any, keepdim: bool):
    x = WHOLE * np.int64(2**60) + 1
    (found,) = computed(lambda x: reductions.wrapping_sum(x, dims, keepdim), x)
    np.testing.assert_array_equal(found, x.sum(axis=_axis(dims), keepdims=keepdim))


@pytest.mark.parametrize("dim", [None, 0, 2])
def test_products_have_all_digits(dim: int | None):
    x = np.full((2, 5, 2), 2**11 + 1, np.int64)
    (found,) = computed(lambda x: reductions.product_of(x, dim, False), x, opset=26)
    np.testing.assert_array_equal(found, x.prod(axis=dim))


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("x", [X, WHOLE, WHOLE > 0], ids=["float", "int", "bool"])
def test_extremes(name: str, dims: Any, x: Any):
    (found,) = computed(lambda x: getattr(reductions, name)(x, dims), x)
    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=_axis(dims)))


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
@pytest.mark.parametrize("dim", [0, 1])
def test_what_is_no_number_is_the_extreme(name: str, dim: int):
    (found,) = computed(lambda x: getattr(reductions, name)(x, dim), HOLES)
    np.testing.assert_array_equal(found, getattr(np, name)(HOLES, axis=dim))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 2])
@pytest.mark.parametrize("keepdim", [False, True])
def test_places_of_extremes(name: str, dim: int | None, keepdim: bool):
    for x in (X, WHOLE):
        (found,) = computed(lambda x: getattr(reductions, name)(x, dim, keepdim), x)
        np.testing.assert_array_equal(found, getattr(np, name)(x, axis=dim, keepdims=keepdim))


@pytest.mark.parametrize("dims", DIMS)
def test_truth(dims: Any):
    x = WHOLE > 5
    np.testing.assert_array_equal(
        computed(lambda x: reductions.any_true(x, dims), x)[0], x.any(axis=_axis(dims))
    )
    np.testing.assert_array_equal(
        computed(lambda x: reductions.all_true(x, dims), ~x)[0], (~x).all(axis=_axis(dims))
    )
    nothing = np.zeros((0, 3), np.bool_)
    np.testing.assert_array_equal(computed(lambda x: reductions.any_true(x, 0), nothing)[0], [False] * 3)
    np.testing.assert_array_equal(computed(lambda x: reductions.all_true(x, 0), nothing)[0], [True] * 3)


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("correction", [0, 1, 0.5])
def test_variances(dims: Any, correction: float):
    variance, mean = computed(
        lambda x: reductions.variance_and_mean(x, dims, correction, True), X, tolerance=1e-6
    )
    np.testing.assert_allclose(variance, X.var(axis=_axis(dims), ddof=correction, keepdims=True), 1e-4)
    np.testing.assert_allclose(mean, X.mean(axis=_axis(dims), keepdims=True), 1e-4, 1e-6)
