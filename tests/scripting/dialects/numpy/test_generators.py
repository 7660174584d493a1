"""Generator functions in numpy code: collected where that is the same, refused where it would not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.scripting.dialects.numpy.agreeing import check


def pairs(x):
    for i in range(len(x) - 1):
        yield x[i], x[i + 1]


def squares(x):
    for v in x:
        if v > 1:
            yield v * v


def approximations(x, count):
    for _ in range(count):
        x = x - (x * x - 2) / (2 * x)
        yield x


def both(x):
    yield from squares(x)
    yield from squares(x * 2)


def until(x, limit):
    total = 0.0
    for v in x:
        total += np.abs(v)
        if total > limit:
            return
        yield total


def of_pairs(x):
    total = 0.0
    for a, b in pairs(x):
        total += a * b
    return np.float64(total)


def consumed_at_once(x):
    return sum(squares(x)), np.array(list(squares(x))), np.array([v + 1 for v in squares(x)])


def with_a_memory(x):
    level = x[0]
    for v in squares(x):
        level = level * 0.5 + v
    return level


def the_last_one(x):
    for root in approximations(x, 5):
        last = root
    return last


def left_early(x):
    for v in squares(x):
        if v > 5:
            return v
    return x[0]


def from_others(x):
    return np.array(list(both(x))), sum(until(x, 3.0))


def called_in_a_loop(x):
    total = x[0]
    for v in x:
        for w in squares(x + v):
            total += w
    return total


GIVEN = [of_pairs, consumed_at_once, with_a_memory, the_last_one, left_early, from_others, called_in_a_loop]


@pytest.mark.parametrize("function", GIVEN)
def test_what_it_yields_is_numpys(function: Callable[..., Any]):
    jitted = xp.jit(function)
    for values in ([1.0, 2.0, 3.0], [2.0, 3.0], [0.5, 1.5, 4.0, 1.0, 2.0]):
        check(function, np.array(values), jitted=jitted)
    assert len(jitted.sessions) == 1


def growing(x):
    here = np.zeros(3)
    for v in x:
        here += v
        yield here


def endless():
    here = 0.0
    while True:
        yield here
        here += 1


def checked(x):
    for v in x:
        if v < 0:
            raise ValueError("negative")
        yield v


def of_lists(x):
    rows = []
    for k in range(3):
        rows.append(x[k])
        yield rows


def what_it_reads_is_changed(x):
    total = 0.0
    y = x.copy()
    for v in squares(y):
        y[0] = 0.0
        total += v
    return total


def what_it_gave_is_changed(x):
    for row in approximations(x, 3):
        row += 1
    return x


def its_own_array_changes(x):
    total = 0.0
    for each in growing(x):
        total += each.sum()
    return total


def used_twice(x):
    found = squares(x)
    return sum(found) + sum(found)


def never_ends(x):
    for v, w in zip(x, endless(), strict=False):
        x = x + v * w
    return x


def that_raises(x):
    return sum(checked(x))


def that_gives_lists(x):
    return sum(len(each) for each in of_lists(x))


REFUSED = [
    what_it_reads_is_changed,
    what_it_gave_is_changed,
    used_twice,
    never_ends,
    that_raises,
    that_gives_lists,
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_would_not_be_the_same_is_refused(function: Callable[..., Any]):
    with pytest.raises(OnnxsmithError) as caught:
        xp.jit(function)(np.array([1.0, 2.0, 3.0]))
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert "__collected__" not in str(caught.value)


def test_an_array_that_it_goes_on_writing_to_is_as_it_was_then():
    check(its_own_array_changes, np.array([1.0, 2.0, 3.0]))


def test_numbers_of_an_iterator_with_a_count() -> None:
    def counted(x):
        return np.fromiter((v * 2 for v in x), dtype=float, count=len(x))

    def known(x):
        return np.fromiter((x[i] * 2 for i in range(3)), dtype=np.float32, count=3)

    def some(x):
        return np.fromiter(x, float, 2)

    def of_a_list(x):
        return np.fromiter([x[0], x[1]], float)

    def of_what_is_known(x):
        return x + np.fromiter((k * k for k in range(3)), float, 3)

    x = np.array([1.0, 2.0, 3.0])
    for function in (counted, known, some, of_a_list, of_what_is_known):
        for made in (xp.jit(function), xp.jit(function, static="shapes")):
            found, wanted = made(x), function(x)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)

    def too_many(x):
        return np.fromiter((v * 2 for v in x), dtype=float, count=len(x) + 1)

    with pytest.raises(ValueError, match="too short"):
        xp.jit(too_many)(x)
