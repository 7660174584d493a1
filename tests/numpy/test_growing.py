"""Lists of lists whose lengths only the model knows are refused where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import InputTypeError


def products(x):
    return np.array([[v * w for w in x] for v in x])


def rows_of_numbers(x):
    return [[v + w for v in x] for w in x]


def appended(x):
    rows = []
    for v in x:
        row = []
        for w in x:
            row.append(v * w)
        rows.append(row)
    return np.array(rows)


def rows_as_arrays(x):
    return np.array([np.array([v * w for w in x]) for v in x])


@pytest.mark.parametrize("function", [products, rows_of_numbers, appended])
def test_lists_of_lists_are_refused_by_line(function: Callable[..., Any]):
    with pytest.raises(InputTypeError, match="a list of lists") as caught:
        xp.jit(function)(np.arange(3.0))
    assert f"in {function.__name__}" in str(caught.value)


def test_rows_that_are_arrays_are_taken():
    x = np.arange(3.0)
    np.testing.assert_array_equal(xp.jit(rows_as_arrays)(x), np.outer(x, x))
