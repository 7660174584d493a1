"""Sizes stay open: one session serves arrays of every size, whatever the code does with `x.shape`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.scripting.dialects.numpy.agreeing import sizes


def sizes_of_it(x):
    return x.shape[0], len(x), x.size, x.shape, x.nbytes


def made_of_sizes(x):
    n = len(x)
    return (
        np.arange(n),
        np.zeros(n),
        np.linspace(0, 1, n),
        np.eye(n),
        np.ones((n, 2), np.float32),
        np.full(n, 3),
    )


def written_in_a_loop(x):
    n = x.shape[0]
    out = np.empty((n, 2))
    for i in range(n):
        out[i, 0] = x[i]
        out[i, 1] = x[i] * i
    return out


def pairs(x):
    n = len(x) // 2 * 2
    return x[:n].reshape(n // 2, 2)


def halves(x):
    return x[: len(x) // 2], x[len(x) // 2 :], x[::-1], x[-1:]


def decided_by_size(x):
    if x.shape[0] % 2 == 0:
        return x.sum()
    return -x.sum()


def decided_by_elements(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += v
        else:
            total -= 2 * v
    return total


def while_elements_are_small(x):
    y = x.copy()
    i = 0
    while i < len(y) and y[i] < 1:
        y[i] = y[i] ** 2
        i += 1
    return y, i


def the_largest(x):
    best, place = -np.inf, -1
    for i, v in enumerate(x):
        if v > best:
            best, place = v, i
    return best, place


def running_mean(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[: i + 1].mean()
    return out


def neighbours(x):
    y = x.copy()
    for a, b in zip(range(len(x) - 1), range(1, len(x)), strict=False):
        y[a] = x[a] - x[b]
    return y


def tables(x):
    table = np.zeros((len(x) + 1, len(x) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(x) + 1):
            table[i, j] = max(table[i - 1, j], table[i, j - 1]) + abs(x[i - 1] - x[j - 1])
    return table[-1, -1]


def the_last_for_each(x):
    total = 0.0
    for _ in range(len(x)):
        total = total + x[-1]
    return total


def shares_of_the_last(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] / x[-1] + x[0]
    return out


@pytest.mark.parametrize(
    "function",
    [
        *(the_last_for_each, shares_of_the_last),
        *(sizes_of_it, made_of_sizes, written_in_a_loop, pairs, halves, decided_by_size),
        *(decided_by_elements, while_elements_are_small, the_largest, running_mean, neighbours, tables),
    ],
)
def test_one_session_serves_every_size(function: Callable[..., Any]):
    assert len(sizes(function, ("N",)).sessions) == 1
