"""Turns that only the model counts: `range`, `np.ndindex`, `np.ndenumerate`, `np.nditer`, and grids of such sizes."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.agreeing import check, sizes


def weighed(m):
    total = 0.0
    for (i, j), v in np.ndenumerate(m):
        total += v * i * j
    return total


def by_index(m):
    out = np.zeros(m.shape)
    for place in np.ndindex(*m.shape):
        out[place] = m[place] * 2
    for i, j in np.ndindex(m.shape):
        out[i, j] -= i
    return out


def each_element(m):
    total = 0.0
    for v in np.nditer(m):
        total += v
    return total


def on_a_grid(m):
    y, x = np.mgrid[: m.shape[0], : m.shape[1]]
    return m * y + x


def on_an_open_grid(m):
    y, x = np.ogrid[: m.shape[0], : m.shape[1]]
    return (y - 1) ** 2 + (x - 1) ** 2 < m


def grids(m):
    return np.mgrid[0 : len(m)], np.mgrid[0:1:3j, 0 : len(m)], np.ogrid[-1:1:5j, 0 : m.shape[1]]


def ranges(m):
    turns = range(len(m))
    total = 0
    for i, j in zip(turns, range(1, len(m) + 1), strict=False):
        total += i * j
    return total, list(turns), sum(range(len(m))), np.array([i * 2 for i in turns])


def searched(m):
    rows = [v for v in m[:, 0]]  # noqa: C416  # what is tested
    return 2.0 in rows, 0.0 in rows


def in_place(m):
    m.real += 1
    return m


FUNCTIONS = [weighed, by_index, each_element, on_a_grid, on_an_open_grid, grids, ranges, searched, in_place]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_as_numpy_does(function):
    jitted = xp.jit(function)
    for shape in ((2, 3), (1, 1), (5, 4)):
        check(function, np.arange(shape[0] * shape[1], dtype=float).reshape(shape), jitted=jitted)
    assert len(jitted.sessions) == 1


def test_a_range_to_a_number_of_numpys():
    def summed(x):
        total = 0.0
        for k in range(np.sum(x > 0)):
            total += x[k]
        return total

    sizes(summed, ("N",))
