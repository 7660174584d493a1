"""A function that jit made sees what changes around it, as the function itself does."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import onnxsmith.numpy as xp
from onnxsmith.errors import LastingChangeError, UnseenStateError

X = np.array([1.0, -2.0, 3.0])
WEIGHTS = np.ones(3)
FACTOR = 2.0
OPTIONS = {"shift": 1.0, "steps": [1, 2]}


def helper(x):
    return x * FACTOR


def weighted(x):
    return helper(x) * WEIGHTS + OPTIONS["shift"] * len(OPTIONS["steps"])


class Layer:
    scale = 1.0

    def __init__(self) -> None:
        self.weights = np.arange(3.0)
        self.calls = 0

    def predict(self, x):
        return x * self.weights * self.scale


def check(function: Callable[..., Any], jitted: Any, changes: list[Callable[[], object]]) -> None:
    np.testing.assert_array_equal(jitted(X), function(X))
    for change in changes:
        change()
        np.testing.assert_array_equal(jitted(X), function(X))
        np.testing.assert_array_equal(jitted(X), function(X))


def test_globals_of_helpers_and_what_they_hold(monkeypatch):
    here = sys.modules[__name__]
    monkeypatch.setattr(here, "WEIGHTS", np.ones(3))
    monkeypatch.setattr(here, "FACTOR", 2.0)
    monkeypatch.setattr(here, "OPTIONS", {"shift": 1.0, "steps": [1, 2]})
    changes: list[Callable[[], object]] = [
        lambda: WEIGHTS.__setitem__(1, 9.0),
        lambda: setattr(here, "FACTOR", 5.0),
        lambda: setattr(here, "WEIGHTS", np.zeros(3)),
        lambda: OPTIONS.__setitem__("shift", 3.0),
        lambda: OPTIONS["steps"].append(3),
    ]
    check(weighted, xp.jit(weighted), changes)


def test_attributes_of_objects_and_classes(monkeypatch):
    monkeypatch.setattr(Layer, "scale", 1.0)
    layer = Layer()
    changes: list[Callable[[], object]] = [
        lambda: layer.weights.__setitem__(0, 7.0),
        lambda: setattr(layer, "weights", np.ones(3)),
        lambda: setattr(Layer, "scale", 4.0),
        lambda: setattr(layer, "scale", 0.5),
    ]
    check(layer.predict, xp.jit(layer.predict), changes)


def test_variables_of_functions_around():
    kept, count = np.ones(3), 1

    def around(x):
        return x * kept + count

    def count_on() -> None:
        nonlocal count
        count += 1

    check(around, xp.jit(around), [count_on, lambda: kept.__setitem__(2, 8.0)])


def applied(layer, x):
    return layer.predict(x)


def test_objects_that_are_given():
    layer, other = Layer(), Layer()
    fast: Any = xp.jit(applied)
    for change in (lambda: layer.weights.__setitem__(0, 7.0), lambda: setattr(layer, "weights", np.ones(3))):
        for each in (layer, other):
            np.testing.assert_array_equal(fast(each, X), applied(each, X))
        change()
    np.testing.assert_array_equal(fast(layer, X), applied(layer, X))


def test_a_jitted_method():
    class Jitted(Layer):
        @xp.jit
        def forward(self, x):
            return x * self.weights

    layer = Jitted()
    np.testing.assert_array_equal(layer.forward(X), X * layer.weights)
    layer.weights = np.ones(3)
    np.testing.assert_array_equal(layer.forward(X), X)


def test_a_generator_without_a_seed_is_refused():
    def noisy(x):
        return x + np.random.default_rng().normal(size=3)

    with pytest.raises(LastingChangeError, match="without a seed"):
        xp.jit(noisy)(X)


def test_what_the_code_does_not_name_makes_no_session_anew():
    layer = Layer()
    jitted: Any = xp.jit(layer.predict)
    jitted(X)
    layer.calls += 1
    np.random.default_rng(0).normal()
    np.random.seed(3)  # noqa: NPY002  # the generator that all share
    jitted(X)
    assert "anew" not in jitted.report


def test_the_report_names_what_was_changed():
    layer = Layer()
    jitted: Any = xp.jit(layer.predict)
    jitted(X)
    layer.weights[0] = 7.0
    jitted(X)
    assert "made anew 1 time: 'predict.weights' was changed" in jitted.report


@pytest.mark.parametrize(
    "drawing",
    [
        lambda x: x + np.random.normal(size=len(x)),  # noqa: NPY002  # what numpy code has
        lambda x: np.random.permutation(x),  # noqa: NPY002
        lambda x: x + np.random.uniform(0, 1, 3),  # noqa: NPY002
    ],
    ids=["normal", "permutation", "uniform"],
)
def test_the_generator_that_all_share_is_refused(drawing):
    with pytest.raises(LastingChangeError, match=r"np.random.\w+' draws from a state"):
        xp.jit(drawing)(X)


# -- data of other libraries -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        pandas.Series([1.0, 2.0]),
        pandas.DataFrame({"a": [1.0, 2.0]}),
        pandas.Index([1.0, 2.0]),
        polars.Series([1.0, 2.0]),
    ],
    ids=lambda each: f"{type(each).__module__.partition('.')[0]} {type(each).__name__}",
)
def test_arrays_of_other_libraries_are_refused(data: Any):
    kind = type(data).__name__
    with pytest.raises(UnseenStateError, match=rf"'values' is an? {kind} of (.|\n)*values\.to_numpy\(\)"):
        xp.jit(lambda values: np.asarray(values).sum())(data)
    with pytest.raises(UnseenStateError, match=rf"'data' is an? {kind} of "):
        xp.jit(lambda x: x + np.asarray(data).sum())(X)
    with pytest.raises(UnseenStateError, match=rf" is an? {kind} of "):
        xp.jit(lambda x, held: x + np.asarray(held["a"]).sum())(X, {"a": data})


def test_objects_of_c_code_are_refused_as_arguments_unless_they_are_told_apart_by_content():
    class Options:
        """Of the user's: it is watched."""

    jitted = xp.jit(lambda x, held: x + 1)
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(UnseenStateError, match="'held' is a Connection of sqlite3"),
    ):
        jitted(X, connection)
    for held in (Options(), np.dtype(float), slice(0, 2), pandas.Timestamp("2020-01-01")):
        np.testing.assert_array_equal(jitted(X, held), X + 1)


@pytest.mark.parametrize("reads", [lambda matrix: matrix.data.sum(), lambda matrix: matrix.toarray().sum()])
def test_sparse_matrices_are_looked_at(reads: Callable[[Any], Any]):
    matrix = scipy.sparse.csr_matrix(np.eye(2))

    def function(x):
        return x + reads(matrix)

    def replaced() -> None:
        matrix.data = np.array([7.0, 8.0])

    check(function, xp.jit(function), [lambda: matrix.data.__setitem__(0, 100.0), replaced])


def test_arrays_that_show_the_memory_of_others_are_looked_at():
    memory = np.arange(4.0)
    shown = memory[:2]

    def function(x):
        return x + shown.sum()

    check(function, xp.jit(function), [lambda: memory.__setitem__(0, 100.0)])
