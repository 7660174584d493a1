"""Sums, products, truth and variances over axes against numpy: open sizes, none of a size, what wraps around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms import reductions
from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed
from tests.numpy.every_argument import disagreements

X = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
WHOLE = np.random.default_rng(1).integers(-9, 9, (3, 4, 5))
AXES: list[tuple[int, ...]] = [(), (0,), (2,), (0, 2), (1,), (0, 1, 2)]
DIMS = [None, 0, 2, (0, 2), (1,)]


def _axis(dims: Any) -> Any:
    return tuple(range(3)) if dims is None else dims


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_sums_wrap_around(axes: tuple[int, ...], keepdims: bool, dtype: str):
    x = (WHOLE * np.int64(2**60) + WHOLE * 2**28 + 1).astype(dtype)
    wanted = x.sum(axis=axes, keepdims=keepdims, dtype=dtype)
    np.testing.assert_array_equal(
        computed(lambda x: reductions.total_of_whole(x, axes, keepdims), x)[0], wanted
    )


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint64", "int32"])
def test_sums_and_products(axes: tuple[int, ...], dtype: str):
    x = (WHOLE if dtype[0] != "f" else X).astype(dtype)
    tolerance = 4 * float(np.finfo(dtype).eps) if dtype[0] == "f" else 0.0
    exact = x.astype(np.float64) if dtype[0] == "f" else x
    (total,) = computed(lambda x: reductions.total(Field(x), axes, False).re, x, tolerance=tolerance)
    np.testing.assert_allclose(
        total, exact.sum(axis=axes, dtype=exact.dtype).astype(dtype), tolerance, tolerance
    )
    (found,) = computed(lambda x: reductions.total_product(Field(x), axes, True).re, x, tolerance=tolerance)
    wanted = exact.prod(axis=axes, dtype=exact.dtype, keepdims=True).astype(dtype)
    np.testing.assert_allclose(found, wanted, 4 * tolerance, tolerance)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_of_nothing(shape: Any, axes: Any, dtype: str):
    x = np.zeros(shape, dtype)
    np.testing.assert_array_equal(
        computed(lambda x: reductions.total(Field(x), axes, False).re, x)[0], x.sum(axis=axes)
    )
    np.testing.assert_array_equal(
        computed(lambda x: reductions.product_of(x, axes, False), x)[0], x.prod(axis=axes)
    )


@pytest.mark.parametrize("axes", [(0,), (2,), (0, 1, 2)])
def test_products_have_all_digits(axes: tuple[int, ...]):
    x = np.full((2, 5, 2), 2**11 + 1, np.int64)
    (found,) = computed(lambda x: reductions.product_of(x, axes, False), x, opset=26)
    np.testing.assert_array_equal(found, x.prod(axis=axes))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_truth(axes: tuple[int, ...], keepdims: bool):
    x = WHOLE > 5
    np.testing.assert_array_equal(
        computed(lambda x: reductions.any_true(x, axes, keepdims), x)[0], x.any(axis=axes, keepdims=keepdims)
    )
    np.testing.assert_array_equal(
        computed(lambda x: reductions.all_true(x, axes, keepdims), ~x)[0],
        (~x).all(axis=axes, keepdims=keepdims),
    )
    nothing = np.zeros((0, 3), np.bool_)
    np.testing.assert_array_equal(
        computed(lambda x: reductions.any_true(x, [0], keepdims), nothing)[0],
        nothing.any(axis=0, keepdims=keepdims),
    )
    np.testing.assert_array_equal(
        computed(lambda x: reductions.all_true(x, [0], keepdims), nothing)[0],
        nothing.all(axis=0, keepdims=keepdims),
    )


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("correction", [0, 1, 0.5])
def test_variances(dims: Any, correction: float):
    variance, mean = computed(
        lambda x: reductions.variance_and_mean(x, dims, correction, True), X, tolerance=1e-6
    )
    np.testing.assert_allclose(variance, X.var(axis=_axis(dims), ddof=correction, keepdims=True), 1e-4)
    np.testing.assert_allclose(mean, X.mean(axis=_axis(dims), keepdims=True), 1e-4, 1e-6)


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("reductions", {"sum": 1}) == []
    assert disagreements("statistics") == []
