"""Indices that are ranges which only the model knows: up, down, from the end, and past it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.agreeing import check


def summed(x, n):
    total = 0.0
    for k in range(n):
        total += x[k]
    return total


def copied(x, n):
    made = np.zeros(n)
    for k in range(n):
        made[k] = x[k] * 2
    return made


def walked(x, n):
    total = 0.0
    for v in x[np.arange(n)]:
        total += v
    return total


INDICES: dict[str, Callable[..., Any]] = {
    "up": lambda x, n: x[np.arange(n)],
    "taken": lambda x, n: np.take(x, np.arange(n)),
    "from one": lambda x, n: x[np.arange(1, n)],
    "in steps": lambda x, n: x[np.arange(0, n, 2)],
    "turned": lambda x, n: x[np.arange(n)[::-1]],
    "down": lambda x, n: x[np.arange(n - 1, -1, -1)],
    "from the end": lambda x, n: x[np.arange(-n, 0)],
    "around the end": lambda x, n: x[np.arange(n) - 1],
    "columns": lambda x, n: np.outer(x, x)[:, np.arange(n)],
    "as a list": lambda x, n: x[list(range(n))],
    "of its own size": lambda x, n: x[np.arange(len(x))] * n,
    "of another size": lambda x, n: x[np.arange(len(np.zeros(n)))],
    "summed": summed,
    "copied": copied,
    "walked": walked,
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_ranges_take_what_numpy_takes(name: str, dtype: Any):
    function = INDICES[name]
    jitted = xp.jit(function)
    for size in (3, 1, 0):
        x = np.arange(1, size + 1).astype(dtype)
        for n in (1, 2, 3, 5, 0):
            try:
                function(x, n)
            except IndexError:
                with pytest.raises(IndexError):
                    jitted(x, n)
            else:
                check(function, x, n, jitted=jitted)
