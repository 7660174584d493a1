"""Elementary functions against numpy in single and double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest

import onnxsmith
from onnxsmith.algorithms import elementary
from tests.algorithms.running import computed

INF, NAN = np.inf, np.nan
FUNCTIONS = {
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Log": np.log,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Reciprocal": np.reciprocal,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(name: Any, dtype: str):
    x = np.array([0.1, 0.5, 0.9, 1.0, 1.5, -0.3, 3.0, 1e-9], dtype)
    (found,) = computed(lambda x: elementary.function_of(name, x), x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, FUNCTIONS[name](x), 16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("base", [2, 10])
def test_logarithms_of_powers_are_whole(base: int):
    x = np.float32(base) ** np.arange(-6, 7, dtype=np.float32)
    (found,) = computed(lambda x: elementary.logarithm(x, base), x)
    np.testing.assert_array_equal(found.astype(np.float32), np.arange(-6, 7))


def test_signs_and_what_is_no_number():
    x = np.array([-2.0, -0.0, 0.0, 3.0, INF, -INF, NAN], np.float32)
    np.testing.assert_array_equal(computed(elementary.sign, x)[0], [-1, 0, 0, 1, 1, -1, 0])
    np.testing.assert_array_equal(computed(elementary.is_nan, x)[0], np.isnan(x))
    np.testing.assert_array_equal(computed(elementary.is_infinite, x)[0], np.isinf(x))
    whole = np.array([-3, 0, 5])
    np.testing.assert_array_equal(computed(elementary.sign, whole)[0], [-1, 0, 1])
    assert not computed(elementary.is_nan, whole)[0].any()
    np.testing.assert_array_equal(computed(elementary.exp2, x[:4])[0], np.exp2(x[:4]))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_limits(dtype: str):
    x, y = np.array([0, 1, 0, 1], dtype), np.array([0, 0, 1, 1], dtype)
    np.testing.assert_array_equal(computed(elementary.maximum, x, y)[0], np.maximum(x, y))
    np.testing.assert_array_equal(computed(elementary.minimum, x, y)[0], np.minimum(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_towards_zero_keeps_the_sign(dtype: str):
    x = np.array([0.0, -0.0, 0.5, -0.5, 2.5, -2.5, INF, -INF, NAN, np.finfo(dtype).max], dtype)
    (found,) = computed(elementary.trunc, x)
    np.testing.assert_array_equal(found, np.trunc(x))
    np.testing.assert_array_equal(np.signbit(found)[:8], np.signbit(x)[:8])


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
def test_extremes_of_two(name: str, dtype: str):
    if dtype.startswith("float"):
        x = np.array([0.0, 1.0, -1.0, 0.1, INF, -INF, NAN, np.finfo(dtype).max], dtype)
    else:
        x = np.array([0, 1, 100]).astype(dtype)
    a, b = x.reshape(-1, 1), x.reshape(1, -1)
    np.testing.assert_array_equal(computed(getattr(elementary, name), a, b)[0], getattr(np, name)(a, b))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_runtime_has_kernels_of_functions_in_double_precision(name: Any):
    """ONNX Runtime has some operators for single precision only: a bare session would refuse them."""
    model = onnxsmith.trace(lambda x: elementary.function_of(name, x), onnxsmith.DOUBLE["N"])
    bare = onnxruntime.InferenceSession(model.proto.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.array([0.1, 0.5, 1.0, 1.5])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(bare.run(None, {model.inputs[0].name: x})[0], FUNCTIONS[name](x), 1e-14)
