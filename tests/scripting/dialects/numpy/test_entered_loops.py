"""`while True` runs at least once: what its body assigns has a value after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError


def root(x: Any) -> Any:
    while True:
        y = 0.5 * (x + 2 / x)
        if np.max(np.abs(y - x)) < 1e-8:
            break
        x = y
    return y


def several(x: Any) -> Any:
    n = 0
    while 1:
        n += 1
        doubled, pair = x * 2, (n, x.sum())
        x = x - 1
        if x.sum() < 0:
            break
    return doubled, pair[0], pair[1], n


def appended(x: Any) -> Any:
    sums = []
    while True:
        sums.append(x.sum())
        x = x - 1
        if x.sum() < 0:
            break
    return np.array(sums)


def returned(x: Any) -> Any:
    while True:
        y = x * 2
        if y.sum() > 10:
            return y
        x = y


def with_a_loop_inside(x: Any) -> Any:
    while True:
        best = x[0]
        for v in x:
            best = max(best, v)
        x = x * 0.5
        if best < 1:
            break
    return best


def with_an_else(x: Any) -> Any:
    k = 0
    while True:
        y = x + k
        k += 1
        if y.sum() > 10:
            break
    else:
        y = x
    return y


@pytest.mark.parametrize(
    "function",
    [root, several, appended, returned, with_a_loop_inside, with_an_else],
    ids=lambda each: each.__name__,
)
def test_what_the_first_turn_assigns(function: Callable[..., Any]) -> None:
    fast = xp.jit(function)
    for x in (np.array([1.0, 3.0]), np.array([5.0, 7.0, 9.0]), np.array([0.25])):
        wanted, found = function(x), fast(x)
        several_results = isinstance(wanted, tuple)
        for one, other in zip(
            wanted if several_results else (wanted,), found if several_results else (found,), strict=True
        ):
            np.testing.assert_allclose(other, one)


def perhaps(x: Any) -> Any:
    while x.sum() > 3:
        y = x * 2
        x = x - 1
    return y


def test_a_loop_that_may_not_run_is_refused() -> None:
    with pytest.raises(OnnxsmithError, match="'y' may have no value here"):
        xp.jit(perhaps)(np.array([1.0, 3.0]))
