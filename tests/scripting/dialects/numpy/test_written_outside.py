"""Writing to a place that is not there raises an IndexError, as reading does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.test_python_numbers import agrees


def shifted(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i + 1] = x[i]
    return out


def first(x):
    x[0] = 1
    return x


def past_the_end(x):
    y = x.copy()
    y[len(x)] = 1
    return y


def before_the_start(x):
    y = x.copy()
    y[-len(x) - 1] = 1
    return y


def added(x):
    y = x.copy()
    y[3] += 1
    return y


def many(x):
    y = x.copy()
    y[[0, 3]] = 1
    return y


def of_a_matrix(x):
    y = np.zeros((len(x), 2))
    y[3, 1] = 1
    return y


def row(x):
    y = np.zeros((len(x), 2))
    y[3] = 1
    return y


def column(x):
    y = np.zeros((2, len(x)))
    y[:, 3] = 1
    return y


def in_a_branch(x):
    y = x.copy()
    if x.sum() > 1:
        y[3] = 1
    return y


def unused(x):
    y = x.copy()
    y[3] = 1
    return x


@pytest.mark.parametrize("size", [0, 1, 3, 4, 6])
@pytest.mark.parametrize(
    "function",
    [
        shifted,
        first,
        past_the_end,
        before_the_start,
        added,
        many,
        of_a_matrix,
        row,
        column,
        in_a_branch,
        unused,
    ],
)
def test_writing_outside_is_an_index_error(function: Callable[..., Any], size: int) -> None:
    agrees(function, np.arange(float(size)))


def test_the_caller_keeps_the_elements() -> None:
    def twice(x):
        x[0] = 7
        x[len(x)] = 8
        return x

    given = np.arange(3.0)
    with pytest.raises(IndexError):
        xp.jit(twice)(given)
