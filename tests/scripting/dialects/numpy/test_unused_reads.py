"""An element that code reads or writes and does not use has to be there nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import OnnxsmithError
from tests.scripting.dialects.numpy.test_python_numbers import agrees


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


def written(x):
    y = x.copy()
    y[3] = 1
    return x + 1


def written_in_a_loop(x):
    y = x.copy()
    s = x.sum()
    for i in range(len(x)):
        y[i + 1] = s
        s += x[i]
    return s


def written_in_a_branch(x):
    y = x.copy()
    if x.sum() > 5:
        y[4] = 2
    return x * 2


def written_by_a_helper(x):
    put(x.copy())
    return x * 2


def put(y):
    y[3] += 2


WRITING = [written, written_in_a_loop, written_in_a_branch, written_by_a_helper]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 6])
@pytest.mark.parametrize("function", WRITING)
def test_places_that_are_written_and_not_read_are_there(function: Callable[..., Any], size: int) -> None:
    agrees(function, np.arange(float(size)))


@pytest.mark.parametrize("function", [written, written_in_a_branch, at_a_computed_place, in_a_branch])
def test_a_model_to_ship_looks_at_them_too(function: Callable[..., Any]) -> None:
    model = xp.to_model(function, DOUBLE["N"])
    for size in (3, 6):
        x = np.arange(float(size)) + 2
        try:
            expected = function(x)
        except IndexError:
            with pytest.raises(OnnxsmithError):
                model(x)
        else:
            np.testing.assert_array_equal(model(x), expected)


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
    ((made, _),) = jitted._made._entries.values()
    assert not made.unused_reads
    assert len(made.model.outputs) == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[i[0]],
        lambda x, i: x[i[0], 0],
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i: x.take(i),
        lambda x, i: np.take_along_axis(x, i[:, None], 0),
    ],
    ids=["rows", "columns", "a row", "an element", "take", "x.take", "take_along_axis"],
)
def test_places_that_an_array_names(read: Callable[[Any, Any], Any]) -> None:
    """They have to be there in models as well, which leave out all that no result needs."""

    def code(x: Any, places: Any) -> Any:
        read(x, places)
        return x * 2

    x = np.arange(6.0).reshape(3, 2)
    model = xp.to_model(code, x, np.array([1]))
    assert np.array_equal(model(x, np.array([-1])), x * 2)
    for run in (model, xp.jit(code), code):
        with pytest.raises(
            (OnnxsmithError, IndexError), match=r"out of bounds|cannot take index|Out of range"
        ):
            run(x, np.array([9]))
