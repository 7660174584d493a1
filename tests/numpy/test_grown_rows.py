"""Lists of tuples that loops of the model append to, and lists that are read, indexed with and mixed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import MutationError
from tests.scripting.dialects.numpy.agreeing import check


def events(x):
    found = []
    for i, v in enumerate(x):
        if v > 1:
            found.append((i, v))
    return found


def as_an_array(x):
    rows = []
    for v in x:
        rows.append([v, v * v, 1.0])
    return np.array(rows), np.array(rows).sum(axis=0)


def read_meanwhile(x):
    spans = [(0, 0)]
    for i in range(1, len(x)):
        spans.append((spans[-1][1], i))
    total = 0
    for a, b in spans:
        total += a * b
    return total, len(spans), spans[1:]


def segments(x):
    found, start = [], 0
    for i in range(1, len(x)):
        if (x[i] > 0) != (x[i - 1] > 0):
            found.append((start, i))
            start = i
    found.append((start, len(x)))
    return found


def of_comprehensions(x):
    pairs = [(i, v * 2) for i, v in enumerate(x) if v > 0]
    return [i for i, _ in pairs], np.array([(v, v + 1) for v in x])


def in_a_dict(x):
    found = {"events": []}
    for i, v in enumerate(x):
        found["events"].append((i, np.array([v, v])))
    return np.stack([v for _, v in found["events"]])


def known_at_first(x):
    path = [100.0]
    level = 100.0
    for v in x:
        level *= np.exp(0.1 * v)
        path.append(level)
    return np.array(path), max(path)


def chosen_rows(x):
    keep = []
    for i in range(len(x)):
        if x[i] > 0:
            keep.append(i)
    return x[keep]


def read_by_an_inner_loop(x):
    basis = []
    for column in np.stack([x, x * x, x + 1]):
        rest = column.copy()
        for each in basis:
            rest -= np.dot(each, rest) * each
        norm = np.linalg.norm(rest)
        if norm > 1e-8:
            basis.append(rest / norm)
        else:
            basis.append(rest * 0)
    return np.array(basis)


def with_a_diagonal(x):
    table = np.outer(x, x)
    np.fill_diagonal(table, 0)
    wide = np.outer(x, x[1:])
    np.fill_diagonal(wide, [1.0, 2.0])
    return table, wide


def joined_and_indexed_by(x):
    rows, places = [], []
    for i, v in enumerate(x):
        rows.append((i, v))
        places.append((i, 0))
    return (
        np.stack(rows),
        np.stack(rows, axis=1),
        np.concatenate(rows),
        np.vstack(rows),
        np.hstack(rows),
        x[places],
    )


FUNCTIONS = [
    events,
    as_an_array,
    read_meanwhile,
    segments,
    of_comprehensions,
    in_a_dict,
    known_at_first,
    chosen_rows,
]
FUNCTIONS += [read_by_an_inner_loop, with_a_diagonal, joined_and_indexed_by]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_numpys(function: Callable[..., Any]):
    jitted = xp.jit(function)
    for values in ([1.0, 2.0, -3.0, 4.0], [3.0, 0.5], [-0.5, 0.25, 4.0, -1.0, 2.0]):
        _check(function, np.array(values), jitted)
    assert len(jitted.sessions) == 1


def _check(function: Callable[..., Any], x: Any, jitted: Any) -> None:
    if function is read_by_an_inner_loop:  # the remainders of a cancellation are no digits to compare
        np.testing.assert_allclose(jitted(x)[:2], function(x)[:2], rtol=1e-9)
    else:
        check(function, x, jitted=jitted)


def test_rows_of_two_lengths_are_refused():
    def mixed(x):
        rows = [(0.0, 1.0)]
        for v in x:
            rows.append((v, v, v))
        return rows

    with pytest.raises(MutationError, match="'rows' is changed"):
        xp.jit(mixed)(np.ones(3))
