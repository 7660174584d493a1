"""`a, b = x` of arrays in numpy code, whose sizes only the model knows."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import UnpackError
from tests.numpy.same_results import difference


def columns(points):
    x, y = points.T
    return x * 2 + y


def rows(points):
    (a, b), (c, d) = points[:2]
    return a + b * c - d


def in_a_loop(points):
    total = 0.0
    for row in points:
        a, b = row
        total += a * b
    return total


def in_place(points):
    copy = points.copy()
    first, second = copy.T
    return first + second


@pytest.mark.parametrize("function", [columns, rows, in_a_loop, in_place])
def test_as_many_as_there_are(function):
    fast = xp.jit(function)
    for size in (2, 5):
        points = np.arange(size * 2.0).reshape(size, 2)
        assert difference(function(points), fast(points), 0) is None


def test_another_number_fails():
    fast = xp.jit(columns)
    for count in (1, 3):
        with pytest.raises((ValueError, IndexError)):
            fast(np.ones((4, count)))
    np.testing.assert_array_equal(fast(np.ones((4, 2))), np.full(4, 3.0))


def test_a_star_is_refused():
    def rest(x):
        first, *_others = x
        return first

    with pytest.raises(UnpackError, match="only the model knows how many elements there are"):
        xp.jit(rest)(np.ones(3))
