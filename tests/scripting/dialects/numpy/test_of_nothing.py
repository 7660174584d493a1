"""What Python and numpy refuse to do with nothing: the model raises the same error, and gives the same of something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import InputTypeError, OnnxsmithError
from tests.scripting.dialects.numpy.agreeing import same


def greatest_of_whole(x):
    return max(int(v) for v in x)


def least_of_a_range(x):
    return min(range(len(x)))


def greatest(x):
    return max(x)


def greatest_that_was_kept(x):
    kept = []
    for v in x:
        if v > 1:
            kept.append(int(v))
    return max(kept)


def stacked(x):
    return np.stack([v * 2 for v in x])


def joined(x):
    return np.concatenate([np.array([v, v]) for v in x])


def below_each_other(x):
    rows = []
    for v in x:
        rows.append(np.array([v, 1.0]))
    return np.vstack(rows)


def beside_each_other(x):
    rows = []
    for v in x:
        rows.append(np.array([v, 1.0]))
    return np.hstack(rows)


def along_rows(x):
    return np.apply_along_axis(lambda row: row.sum(), 1, np.stack([x, x], axis=1))


def along_columns(x):
    return np.apply_along_axis(np.cumsum, 0, np.zeros((3, len(x))))


OF_NOTHING = (
    *(greatest_of_whole, least_of_a_range, greatest, greatest_that_was_kept, stacked, joined),
    *(below_each_other, beside_each_other, along_rows, along_columns),
)


@pytest.mark.parametrize("function", OF_NOTHING)
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint8])
def test_nothing_raises_what_python_raises(function: Callable[..., Any], dtype: Any):
    """The law: size 0 raises the error of the code, in its words, and other sizes give what it gives."""
    fast = xp.jit(function)
    for size in (3, 0, 1, 7):
        x = (np.arange(size) + 2).astype(dtype)
        try:
            expected = function(x)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).replace("(", r"\(").replace(")", r"\)")):
                fast(x)
        else:
            same(fast(x), expected)


def greatest_or_zero(x):
    return max(x, default=0)


def least_of_whole_or_none(x):
    return min((int(v) for v in x), default=-1), max([v for v in x if v > 3], default=7)


def powers_of_sizes(x):
    n = len(x)
    return 2**n, pow(2, n), n**n, (n + 1) ** n


@pytest.mark.parametrize("function", [greatest_or_zero, least_of_whole_or_none, powers_of_sizes])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_a_default_is_given_for_nothing(function: Callable[..., Any], dtype: Any):
    fast = xp.jit(function)
    for size in (3, 0, 1, 7):
        x = (np.arange(size) - 2).astype(dtype)
        same(fast(x), function(x))


def test_a_default_of_another_kind_is_refused():
    with pytest.raises(InputTypeError, match="element of uint8, or the default"):
        xp.jit(lambda x: max(x, default=-1))(np.ones(2, np.uint8))


@pytest.mark.parametrize("function", OF_NOTHING)
def test_a_model_of_nothing_fails(function: Callable[..., Any]):
    model = xp.to_model(function, DOUBLE["N"], verify=False)
    with pytest.raises(OnnxsmithError):
        model(np.zeros(0))


@pytest.mark.parametrize("values", [[3.0], [1e308, 1e308, 1e308], [1.0, 2.0], [1.0, np.nan, 1e308]])
@pytest.mark.parametrize("function", [np.median, np.nanmedian])
def test_the_median_of_one_in_the_middle_is_that_element(values: list[float], function: Callable[..., Any]):
    x = np.array(values)
    same(xp.jit(lambda x: function(x))(x), function(x))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 2.0, 0.5])
def test_truth_values_to_a_power_have_numpys_type(exponent: float):
    x = np.array([True, False, True])
    same(xp.jit(lambda x: (x**exponent, x[0] ** exponent))(x), (x**exponent, x[0] ** exponent))
