"""An element that code reads and does not use has to be there nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.staging.test_python_numbers import agrees


def in_a_loop(x):
    s = x.sum()
    for i in range(len(x)):
        t = x[i + 1]  # noqa: F841
        s += x[i]
    return s


def computed_with(x):
    s = x.sum()
    for i in range(len(x)):
        t = x[i + 1] * 2 + 1  # noqa: F841
        s += x[i]
    return s


def in_a_while(x):
    s, i = x.sum(), 0
    while i < len(x):
        t = x[i + 1]  # noqa: F841
        s += x[i]
        i += 1
    return s


def in_a_branch_of_a_loop(x):
    s = x.sum()
    for i in range(len(x)):
        if x[i] > 3:
            t = x[i + 1]  # noqa: F841
        s += x[i]
    return s


def in_a_branch(x):
    if x.sum() > 5:
        t = x[4]  # noqa: F841
    return x * 2


def beside_a_loop(x):
    t = x[3]  # noqa: F841
    s = x.sum()
    for i in range(len(x)):
        s += x[i] * s
    return s


def at_a_computed_place(x):
    t = x[int(x.sum()) - 2]  # noqa: F841
    return x * 2


def first(x):
    return x[3]


def in_a_function(x):
    s = x.sum()
    for i in range(len(x)):
        first(x)
        s += x[i]
    return s


def used_by_another_call(x):
    s = x.sum() + (first(x) if x.sum() > 100 else 0.0)
    for i in range(len(x)):
        first(x)
        s += x[i]
    return s


READING = [
    *(in_a_loop, computed_with, in_a_while, in_a_branch_of_a_loop, in_a_branch, beside_a_loop),
    *(at_a_computed_place, in_a_function, used_by_another_call),
]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 6])
@pytest.mark.parametrize("function", READING)
def test_what_is_read_and_not_used_is_there(function: Callable[..., Any], size: int) -> None:
    agrees(function, np.arange(float(size)))


def test_elements_that_a_loop_goes_through_cost_nothing() -> None:
    def counted(x):
        s = x.sum()
        for i, _ in enumerate(x):
            s += i
        return s

    jitted: Any = xp.jit(counted)
    jitted(np.arange(4.0))
    (made,) = {id(each): each for each in jitted._runs.values()}.values()
    assert not made.unused_reads
    assert len(made.model.outputs) == 1
