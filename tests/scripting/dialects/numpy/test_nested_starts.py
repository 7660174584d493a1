"""Numbers that loops inside of loops replace by elements: the start takes the elements' type in the outermost one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError
from tests.scripting.dialects.numpy.agreeing import check


def greatest(m):
    best, at = -np.inf, (-1, -1)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > best:
                best, at = m[i, j], (i, j)
    return best, at


def greatest_rise(m):
    best = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            for k in range(j):
                if m[i, j] - m[i, k] > best:
                    best = m[i, j] - m[i, k]
    return best


def by_while(m):
    best, changes = -1, 0
    for row in m:
        i = 0
        while i < len(row):
            if row[i] > best:
                best = row[i]
                changes += 1
            i += 1
    return best, changes


def beside_a_list(m):
    best, found = -1, []
    for row in m:
        for v in row:
            if v > best:
                best = v
        found.append(best)
    return best, len(found)


SHAPES = [(3, 4), (0, 4), (2, 0), (1, 1), (4, 2)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int32])
@pytest.mark.parametrize("function", [greatest, greatest_rise, by_while, beside_a_list])
def test_the_start_takes_the_type_of_the_elements(function: Callable[..., Any], dtype: Any):
    if function is greatest and np.dtype(dtype).kind == "i":
        with pytest.raises(LoopTypeError, match="'best' is a Python float or an array of int"):
            xp.jit(function)(np.ones((2, 2), dtype))
        return
    jitted = xp.jit(function)
    for shape in SHAPES:
        m = np.random.default_rng(sum(shape)).integers(0, 9, shape).astype(dtype)
        check(function, m, jitted=jitted)
