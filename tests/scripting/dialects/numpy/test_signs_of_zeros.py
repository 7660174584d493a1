"""Zeros keep their signs in sums that a loop adds up, whichever turns add something.

Those that a branch chooses do not all: the table of what differs has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp


def added_where_positive(x):
    total, sums = -x.dtype.type(0), np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            total = total + x[i]
        sums[i] = total
    return sums


def last_where_positive(x):
    total = -x.dtype.type(0)
    for v in x:
        if v > 0:
            total += v
    return total


def own_elements(x):
    sums = np.full(len(x), -0.0, x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            sums[i] += x[i]
    return sums


ROWS = [[], [-1.0], [-1.0, -0.0, 0.0], [-2.0, 3.0], [7.0, -7.0], [0.0] * 200, [-1.0] * 100 + [2.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [added_where_positive, last_where_positive, own_elements])
def test_a_turn_that_adds_nothing_keeps_the_sign(function: Callable[..., Any], dtype: Any):
    jitted = xp.jit(function)
    for row in ROWS:
        x = np.array(row, dtype)
        mine, theirs = jitted(x), function(x)
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs))
