"""Items of dicts and lists that branches and loops of the model change: carried as the values they hold, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError, MutationError, OnnxsmithError, TracedValueError
from tests.scripting.dialects.numpy.agreeing import check


def summed(x):
    state = {"sum": 0.0, "count": 0}
    for v in x:
        state["sum"] += v
        state["count"] += 1
    return state["sum"] / state["count"]


def counted_by_sign(x):
    found = {"up": {"n": 0, "sum": 0.0}, "down": {"n": 0, "sum": 0.0}}
    for v in x:
        if v > 1:
            found["up"]["n"] += 1
            found["up"]["sum"] += v
        else:
            found["down"]["n"] += 1
            found["down"]["sum"] += v
    return found


def lagged(x):
    last = [0.0, 1.0]
    for v in x:
        last[0] = last[1]
        last[1] = last[1] + v
    last[1] *= 2.0
    last.append(5.0)
    return last


def swapped(x):
    two = [0.0, 1.0, 2.0]
    for v in x:
        two[0], two[1] = two[1], two[0] + v
    return two


def in_a_tuple(x):
    two = (0.0, 1.0)
    for v in x:
        two = (two[1], two[1] + v)
    return two


def in_a_table(x):
    table = [[0.0] * 3 for _ in range(2)]
    for k in range(len(x)):
        table[0][1] = table[0][1] + x[k]
        table[-1][2] += 1.0
    return np.array(table)


def until_small(x):
    state = {"x": np.abs(x).sum(), "turns": 0}
    while state["x"] > 0.1:
        state["x"] = state["x"] / 2
        state["turns"] += 1
    return state["turns"]


def of_arrays(x):
    state = {"w": np.ones(3), "last": np.zeros(3), "n": 0}
    for i in range(len(x)):
        state["w"] += x[i]
        state["last"] = state["w"] * 2
        state["n"] += 1
    return state["w"], state["last"] * state["n"]


def returned_from_the_middle(x):
    state = {"sum": 0.0}
    for v in x:
        state["sum"] += v
        if state["sum"] > 2:
            return state["sum"]
    return -state["sum"]


def chosen(x):
    options = {"a": x[0], "b": x[1]}
    if x.sum() > 2:
        options["a"] = x[1]
    else:
        options["b"] = x[0] * 2
    options["a"] += 1
    return options


def split(x):
    rows = [[], []]
    for v in x:
        if v > 1:
            rows[0].append(v)
        else:
            rows[1].append(v)
    return np.array(rows[0]), np.array(rows[1])


def columns(x):
    found = {"a": [], "b": [1.0]}
    for v in x:
        found["a"].append(v)
        found["b"].append(float(v) * 2)
    return np.array(found["a"]), np.array(found["b"])


GIVEN = [summed, counted_by_sign, lagged, swapped, in_a_tuple, in_a_table, until_small, of_arrays]
GIVEN += [returned_from_the_middle, chosen, split, columns]


@pytest.mark.parametrize("function", GIVEN)
def test_items_are_carried(function: Callable[..., Any]):
    jitted = xp.jit(function)
    for values in ([1.0, 2.0, 3.0], [3.0, 0.5], [0.5, 0.25, 4.0, 1.0, 2.0]):
        check(function, np.array(values), jitted=jitted)
    assert len(jitted.sessions) == 1


def held_twice(x):
    state = {"sum": 0.0}
    other = state
    for v in x:
        state["sum"] += v
    return other["sum"]


def one_row_twice(x):
    row = [0.0, 0.0]
    table = [row, row]
    for v in x:
        table[0][1] = table[0][1] + v
    return table[1][1]


def by_a_row(x):
    table = {"a": [0.0, 0.0]}
    row = table["a"]
    for v in x:
        row[0] = row[0] + v
    return table["a"][0]


def by_a_helper(x):
    def add(state, v):
        state["sum"] += v

    state = {"sum": 0.0}
    for v in x:
        add(state, v)
    return state["sum"]


def of_the_callers(x, state):
    for v in x:
        state["sum"] += v
    return state["sum"]


def another_key(x):
    state = {}
    for v in x:
        state["last"] = v
    return state["last"]


def by_an_element(x):
    counts = [0, 0, 0, 0]
    for v in x:
        counts[int(v)] += 1
    return counts


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (held_twice, MutationError),
        (one_row_twice, MutationError),
        (by_a_row, MutationError),
        (by_a_helper, MutationError),
        (another_key, LoopTypeError),
        (by_an_element, TracedValueError),
    ],
)
def test_what_somebody_else_would_see_is_refused(function: Callable[..., Any], error: type[OnnxsmithError]):
    with pytest.raises(error) as caught:
        xp.jit(function)(np.array([1.0, 2.0, 3.0]))
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_dict_of_the_callers_is_not_changed_unseen():
    state = {"sum": 0.0}
    with pytest.raises(MutationError):
        xp.jit(of_the_callers)(np.array([1.0, 2.0]), state)
    assert state == {"sum": 0.0}
