"""`x[i] += y` in numpy code changes the array, whether `x[i]` is a view of it or a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.same_results import difference

INDICES: dict[str, Any] = {
    "a number": lambda x: 0,
    "a slice": lambda x: slice(1, None),
    "backwards": lambda x: slice(None, None, -1),
    "a mask": lambda x: x > 0,
    "places": lambda x: np.arange(len(x)) // 2,
    "a list": lambda x: [0, -1],
    "everything": lambda x: ...,
    "a new dimension": lambda x: (None, slice(None)),
}


@pytest.mark.parametrize("where", ["straight", "loop", "branch"])
@pytest.mark.parametrize("name", INDICES)
def test_the_array_is_changed(name: str, where: str):
    index = INDICES[name]

    def straight(x):
        y = x.copy()
        y[index(x)] += 1
        return y

    def loop(x):
        y = x.copy()
        for k in range(len(x)):
            y[index(x)] += k
        return y

    def branch(x):
        y = x.copy()
        if x.sum() > 0:
            y[index(x)] *= 2
        else:
            y[index(x)] -= 1
        return y

    function = {"straight": straight, "loop": loop, "branch": branch}[where]
    fast = xp.jit(function)
    for size in (1, 4):
        for sign in (1, -1):
            x = sign * np.arange(1.0, size + 1)
            assert difference(function(x), fast(x), 0) is None


def test_arrays_in_a_list_are_changed():
    def rows(x):
        parts = [x.copy(), x * 2]
        parts[1] += 1
        parts[0][0] += 5
        return parts[0] + parts[1]

    x = np.arange(3.0)
    assert difference(rows(x), xp.jit(rows)(x), 0) is None
