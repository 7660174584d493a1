"""Writing to the elements of lists that loops of the model append to: as Python does, or refused at the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import MutationError, OnnxsmithError
from tests.scripting.dialects.numpy.agreeing import check


def merged_if_there_are_some(a):
    out = []
    for i in range(a.shape[0]):
        start, end = a[i, 0], a[i, 1]
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return np.array(out)


def merged_from_the_first(a):
    out = [[a[0, 0], a[0, 1]]]
    for i in range(1, a.shape[0]):
        if a[i, 0] <= out[-1][1]:
            out[-1][1] = max(out[-1][1], a[i, 1])
        else:
            out.append([a[i, 0], a[i, 1]])
    return np.array(out)


def merged_unless_apart(a):
    out = []
    for start, end in a:
        if not out or out[-1][1] < start:
            out.append([start, end])
        else:
            out[-1][1] = max(out[-1][1], end)
    return np.array(out)


def merged_as_tuples(a):
    out = []
    for start, end in a:
        if not out or out[-1][1] < start:
            out.append((start, end))
        else:
            out[-1] = (out[-1][0], max(out[-1][1], end))
    return out


def added_to(a):
    none = a[0, 0] * 0
    groups = [[none, none]]
    for start, end in a:
        if end - start > 2:
            groups.append([none, none])
        groups[-1][0] += start
        groups[-1][1] += end
    return np.array(groups)


def replaced(a):
    out = []
    for v in a[:, 0]:
        out.append(v)
        out[-1] = v + 1
    out[0] = a[0, 1]
    out[1] += 5.0
    return np.array(out)


def written_after(a):
    out = []
    for start, end in a:
        out.append([start, end])
    out[-1][1] = 5.0
    out[0] = [1.0, 2.0]
    return np.array(out)


def counted(a):
    runs = []
    for v in a[:, 0] > 2:
        if runs and runs[-1] > 0 and v:
            runs[-1] = runs[-1] + 1
        else:
            runs.append(int(v))
    return runs


WRITTEN = [merged_if_there_are_some, merged_from_the_first, merged_unless_apart, merged_as_tuples, added_to]
WRITTEN += [replaced, written_after, counted]
SAMPLES = [
    np.array([[1, 3], [2, 6], [8, 10], [9, 9], [15, 18.0]]),
    np.array([[1, 3], [4, 6.0]]),
    np.array([[1, 9], [2, 6], [8, 8.5]]),
]


@pytest.mark.parametrize("function", WRITTEN)
def test_they_are_numpys(function: Callable[..., Any]):
    jitted = xp.jit(function)
    for values in SAMPLES:
        check(function, values, jitted=jitted)
    assert len(jitted.sessions) == 1


def appended_and_written(a):
    out = []
    for v in a[:, 0]:
        row = [v, 0.0]
        out.append(row)
        row[1] = v * 2
    return np.array(out)


def one_row_many_times(a):
    out, row = [], [0.0, 0.0]
    for v in a[:, 0]:
        row[0] = v
        out.append(row)
    return np.array(out)


def appended_and_forgotten(a):
    out, row = [], [0.0, 0.0]
    for _ in a[:, 0]:
        out.append(row)
    row = None
    out[0][1] = 7.0
    return np.array(out), row


def gone_through(a):
    out = []
    for start, end in a:
        out.append([start, end])
    for row in out:
        row[0] = row[0] * 2
    return np.array(out)


def under_a_name(a):
    out = [[a[0, 0], 1.0]]
    for v in a[:, 0]:
        row = out[-1]
        row[0] = row[0] + v
        out.append([v, 1.0])
    return np.array(out)


def held_before(a):
    out = [[a[0, 0], 1.0]]
    first = out[0]
    for v in a[:, 0]:
        out.append([v, 1.0])
    out[0][1] = 9.0
    return np.array(out), first[1]


def in_a_slice(a):
    out = []
    for start, end in a:
        out.append([start, end])
    some = out[:2]
    some[0][1] = 7.0
    return np.array(out)


def in_a_copy(a):
    out = []
    for start, end in a:
        out.append([start, end])
    other = list(out)
    out[0][1] = 7.0
    return np.array(other)


def in_two_lists(a):
    out, other = [], []
    for start, end in a:
        row = [start, end]
        out.append(row)
        other.append(row)
    out[0][1] = 7.0
    return np.array(other)


def one_of_two(a):
    out = []
    for start, end in a:
        out.append([start, end])
    if a[0, 0] > 0:
        row = out[0]
    else:
        row = out[1]
    row[1] = 7.0
    return np.array(out)


def carried(a):
    out = [[a[0, 0], 1.0]]
    row = out[0]
    for start, end in a:
        out.append([start, end])
        row = out[-1]
    row[1] = 7.0
    return np.array(out)


def read_before(a):
    out = []
    for start, end in a:
        out.append([start, end])
    row = out[0]
    out[0][1] = 7.0
    return row[1]


def made_longer(a):
    out = []
    for start, end in a:
        out.append([start, end])
    out[-1].append(2.0)
    return len(out[-1])


def _write(rows, v):
    rows[-1][1] = v


def by_a_helper(a):
    out = []
    for start, end in a:
        out.append([start, end])
        row = out[-1]
        _write(out, start)
        out[-1][0] = row[1]
    return np.array(out)


def under_another_name(a):
    out = []
    for start, end in a:
        out.append([start, end])
    same = out
    same[0][1] = 7.0
    same[1] = [1.0, 1.0]
    return np.array(out)


HELD = [
    appended_and_written,
    one_row_many_times,
    appended_and_forgotten,
    gone_through,
    under_a_name,
    held_before,
]
HELD += [in_a_slice, in_a_copy, in_two_lists, one_of_two, carried, read_before, made_longer, by_a_helper]
HELD += [under_another_name]


@pytest.mark.parametrize("function", HELD)
def test_rows_that_something_else_holds_are_numpys_or_refused(function: Callable[..., Any]):
    jitted = xp.jit(function)
    try:
        made = jitted(SAMPLES[0])
    except MutationError:
        return
    np.testing.assert_equal(made, function(SAMPLES[0]))


def test_the_error_names_the_line_and_the_rewrite():
    with pytest.raises(MutationError, match="an element of a list that only the model knows") as caught:
        xp.jit(gone_through)(SAMPLES[0])
    assert "row[0] = row[0] * 2" in str(caught.value)
    assert "rows[i][k] = v" in str(caught.value)


def test_several_at_once_are_refused():
    def function(a):
        out = []
        for v in a[:, 0]:
            out.append(v + 1)
        out[:1] = [1.0]
        return out

    with pytest.raises(OnnxsmithError, match="several elements of it are assigned at once"):
        xp.jit(function)(SAMPLES[0])


def test_what_is_no_element_of_a_row_is_pythons_error():
    def function(a):
        out = []
        for v in a[:, 0]:
            out.append([v, v])
        out[0][2] = 1.0
        return np.array(out)

    with pytest.raises(IndexError):
        xp.jit(function)(SAMPLES[0])
