"""Of several errors that only the model knows, the one is raised that the code comes to first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp


def checked_first(x, i):
    assert x.sum() > 0, "a sum above zero"
    return x[i]


def indexed_first(x, i):
    y = x[i]
    assert x[0] > 0, "a first element above zero"
    return y


def checked_in_a_loop(x, i):
    total = 0.0
    for k in range(3):
        assert x[0] > 0, "a first element above zero"
        total += x[i + k]
    return total


def indexed_in_a_loop(x, i):
    total = 0.0
    for k in range(i):
        total += x[k]
        assert k < 5, "few turns"
    return total


def counted_in_a_loop(x, i):
    total = 0.0
    for k in range(i):
        assert k < len(x), "as many turns as elements"
        total += x[k]
    return total


def left_by_break(x, i):
    n = 0
    while n < i:
        assert n < len(x), "as many turns as elements"
        if x[n] > 5:
            break
        n += 1
    return x[n]


def decided_by_what_is_not_there(x, i):
    assert x.size, "some elements"
    if x[0] > 1:
        raise ValueError("a large first element")
    return x[i]


def written_to(x, i):
    y = x.copy()
    for k in range(i):
        assert y[0] < 1.5, "a small first element"
        y[k] += 1
        y[0] += 1
    return y


def written_after_a_check(x, i):
    assert x.sum() > 0
    y = x.copy()
    y[i] = 1
    return y


def rows_and_elements(x, i):
    products = np.outer(x, x)
    row = products[i]
    assert row.sum() < 100, "a small row"
    return products[i, i + 1]


def raised_before_an_index(x, i):
    if x.sum() <= 0:
        raise KeyError("no sum")
    return x[[0, i]]


def shapes_after_a_check(x, i):
    assert len(x) % 2 == 0, "pairs"
    return x.reshape(-1, 2)[i]


CALLS = [
    (np.array(elements), place)
    for elements in ([], [1.0], [-1.0, -2.0], [1.0, 2.0, 3.0], [-1.0, 2.0, -3.0])
    for place in (0, 1, 5, 7)
]


def _outcome(function: Callable[..., Any], x: Any, i: int) -> Any:
    try:
        return function(x, i)
    except (AssertionError, LookupError, ValueError) as error:
        return error


@pytest.mark.parametrize(
    "function",
    [
        checked_first,
        indexed_first,
        checked_in_a_loop,
        indexed_in_a_loop,
        counted_in_a_loop,
        left_by_break,
        decided_by_what_is_not_there,
        written_to,
        written_after_a_check,
        rows_and_elements,
        raised_before_an_index,
        shapes_after_a_check,
    ],
)
def test_the_first_error_is_raised(function: Callable[..., Any]):
    jitted = xp.jit(function)
    for x, i in CALLS:
        mine, theirs = _outcome(jitted, x, i), _outcome(function, x, i)
        if isinstance(theirs, Exception):
            assert isinstance(mine, type(theirs)), (x, i, mine, theirs)
            if not isinstance(theirs, IndexError):
                assert str(theirs).startswith(str(mine))  # pytest adds to the text of an `assert`
        else:
            np.testing.assert_allclose(mine, theirs)
