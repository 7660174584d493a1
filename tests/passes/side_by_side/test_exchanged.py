"""A law: what a loop carries stays apart, also where several begin with the same value and change places."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp

#: What a turn makes of two numbers `a` and `b`, an element `v` and its place `i`.
UPDATES = ("a", "b", "a + v", "b + v", "v", "v if v > 0 else a", "b if v > 0 else a", "0.5 * a + v")
#: The same of two arrays.
WRITTEN = ("a", "b", "put(a, i, v)", "put(b, i, v)", "put(a, i, b[i])")


def _put(array: Any, place: Any, value: Any) -> Any:
    made = array.copy()
    made[place] = value
    return made


def _function(source: str) -> Callable[..., Any]:
    file = f"<exchanged: {source}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = {"np": np, "put": _put}
    exec(compile(source, file, "exec"), space)
    return space["carried"]


def _agrees(source: str) -> None:
    function = _function(source)
    jitted = xp.jit(function)
    for values in ([1.0, 2.0, 3.0], [-1.0, 2.0, -3.0, 4.0], [5.0]):
        x = np.array(values)
        for mine, theirs in zip(jitted(x), function(x), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(UPDATES, repeat=2)))
def test_numbers_that_begin_alike(a: str, b: str):
    _agrees(
        "def carried(x):\n    a, b = 0.0, 0.0\n    for i, v in enumerate(x):\n"
        f"        a, b = {a}, {b}\n    return a, b\n"
    )


@pytest.mark.parametrize(("a", "b"), list(itertools.product(WRITTEN, repeat=2)))
def test_arrays_that_begin_alike(a: str, b: str):
    _agrees(
        "def carried(x):\n    a = b = np.zeros(len(x))\n    for i, v in enumerate(x):\n"
        f"        a, b = {a}, {b}\n    return a, b\n"
    )
