"""Python's own functions and syntax on arrays, in numpy code that is staged."""

from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import ConditionError, OnnxsmithError, TracedValueError, UnsupportedSyntaxError
from tests.scripting.dialects.numpy.agreeing import check

X = np.array([1.5, 2.25, 3.75])


def numbers(x):
    return len(x), float(x[0]), int(x[1]), bool(x[2]), round(x[0], 1), round(x[1]), abs(x)


def extremes(x):
    return max(x), min(x), sum(x), any(x > 1), all(x > 2), max(x[0], x[1], 0.5), min(3, x[0])


def classes(x):
    return (
        (isinstance(x, np.ndarray), isinstance(x[0], float), isinstance(x.sum(), np.floating)),
        (type(x) is np.ndarray, type(x[0]) is np.float64, isinstance(x, list | tuple)),
        (hasattr(x, "dtype"), hasattr(x, "mask"), getattr(x, "mask", None)),
        (np.isscalar(x[0]), np.isscalar(x), np.iterable(x), np.iterable(x[0])),
        (x.dtype == np.float64, np.issubdtype(x.dtype, np.floating), x.dtype.kind),
    )


def mathematics(x):
    return math.sqrt(x[0]), math.log10(x[1]), math.atan2(x[0], x[1]), math.floor(x[2]), math.hypot(x[0], 3.0)


def attributes(x):
    return x.T, x.size, x.ndim, x.item(0), x[:1].item(), x.flat[1], x[np.newaxis].shape, x.nbytes, x.real


def contexts(x):
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x - 2)
    assert x.ndim == 1, f"{x.ndim} dimensions"
    warnings.warn(f"shape {x.ndim}", stacklevel=2)
    return y, f"{x.ndim}-d {x.dtype}"


def creation(x):
    y = np.empty((2, 3))
    y.flat = 2.0
    y.flat[::4] = x[0]
    return (
        (y, np.array([x[0], 1, x[1]]), np.asarray(x, dtype=np.float32), np.atleast_2d(x)),
        (np.array(x, ndmin=2), np.float32(x[0]), np.ascontiguousarray(x), np.asanyarray(x)),
        (np.int64(x[1]), np.zeros(2, int), np.full(3, x[0]), np.array([[x[0], x[1]], [1, 2]])),
    )


def members(x):
    return 2.25 in x, 7.0 in x, x[0] in (1.0, 1.5), x[0] not in [1.0], x.ndim in (1, 2)


def unpacked(x):
    a, b, c = x
    (d, e), f = x[:2], x[2]
    return a * b + c, d, e, f


def asserted(x):
    assert (x > 0).all(), f"{x} is negative"
    assert len(x) > 1
    return x


def caught(x):
    try:
        y = x.mask
    except AttributeError:
        y = x + 1
    try:
        z = {"a": 1}["b"]
    except (KeyError, IndexError) as error:
        z = str(error)
    else:
        z = 3
    finally:
        w = 4
    return y, z, w


def caught_from_a_helper(x):
    def check_it(n):
        if n != 3:
            raise ValueError("n")

    try:
        check_it(x.ndim)
    except ValueError:
        return x
    return x + 1


def returned_from_a_try(x):
    try:
        return np.array_equal(x, x)
    except Exception:
        return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        *(numbers, extremes, classes, mathematics, attributes, contexts, creation),
        *(members, unpacked, asserted),
        *(caught, caught_from_a_helper, returned_from_a_try),
    ],
)
def test_code_means_what_it_means_in_numpy(function: Callable[..., Any]):
    check(function, X)


def of_unknown_text(x):
    return f"{x.sum()}"


def arithmetic_errors(x):
    try:
        return 1 / x.shape[0]
    except ZeroDivisionError:
        return 0.0


def a_matrix_that_may_be_singular(x):
    try:
        return np.linalg.inv(x * np.eye(3))
    except np.linalg.LinAlgError:
        return x


def many_compared(x):
    return max(x, x + 1)


def what_numpy_alone_has(x):
    try:
        return x.ctypes
    except AttributeError:
        return 0


def what_lives_outside(x):
    SETTINGS.level = x
    return x


class SETTINGS:
    level = 0


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (of_unknown_text, TracedValueError),
        (arithmetic_errors, UnsupportedSyntaxError),
        (a_matrix_that_may_be_singular, TracedValueError),
        (many_compared, ConditionError),
        (what_numpy_alone_has, OnnxsmithError),
        (what_lives_outside, UnsupportedSyntaxError),
    ],
)
def test_what_cannot_be_right_is_refused(function: Callable[..., Any], error: type[OnnxsmithError]):
    with pytest.raises(error) as caught:
        xp.jit(function)(X)
    assert function.__name__ in str(caught.value)


def written_in_c(x):
    return struct.pack("d", x[0])


def of_python_in_c(x):
    return math.gamma(x[0])


@pytest.mark.parametrize(("function", "name"), [(written_in_c, "pack"), (of_python_in_c, "math.gamma")])
def test_a_call_into_c_is_named(function: Callable[..., Any], name: str):
    with pytest.raises(TracedValueError, match=f"{name} is written in C: write what it computes") as caught:
        xp.jit(function)(X)
    assert f"in {function.__name__}" in str(caught.value)


def test_assertions_and_unpacking_fail_as_in_python():
    with pytest.raises(AssertionError, match="is negative"):
        xp.jit(asserted)(-X)
    with pytest.raises(ValueError, match="3 values are needed"):
        xp.jit(unpacked)(X[:2].repeat(2))


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "erf", "log1p", "exp"]
)
def test_functions_of_math_are_as_exact_as_pythons(name: str):
    function = getattr(math, name)
    of_element: Any = xp.jit(lambda x: function(x[0]))
    of_number: Any = xp.jit(lambda v: function(v))
    for value in (0.5, 0.25, 0.99):
        expected = function(value)
        for found in (of_element(np.array([value])), of_number(value)):
            assert type(found) is float
            assert abs(found - expected) <= 4 * np.spacing(expected)
