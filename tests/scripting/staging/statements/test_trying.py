"""`with` and `try`: contexts end before what follows; what is caught is what an eager run catches."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, cast

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from onnxsmith.errors import TracedValueError, UnsupportedSyntaxError
from onnxsmith.scripting.functions.function import ScriptFunction

INPUTS = [np.array(each, np.float32) for each in ([0.5, -2.0], [3.0, 0.1], [-1.0, -1.0])]


@contextmanager
def scaled(value: float) -> Generator[float]:
    yield value * 2


def returns_inside(x: FLOAT["N"]):
    with nullcontext(2.0) as scale:
        if op.ReduceMax(x, keepdims=0) > 1.0:
            return op.Clip(x, -1.0, 1.0)
        y = op.Tanh(x)
    return y * scale


def within_a_branch(x: FLOAT["N"]):
    y = x
    if op.ReduceMax(x, keepdims=0) > 1.0:
        with scaled(3.0) as scale, scaled(scale) as twice:
            y = x * twice
    else:
        with scaled(1.0) as scale:
            y = x - scale
    return y + scale


def breaks_out(x: FLOAT["N"]):
    total = x
    for row in x:
        with scaled(0.5) as step:
            if row > 1.0:
                break
            total = total + row * step
        total = total + 1.0
    return total


def changes_a_variable_twice(x: FLOAT["N"]):
    with nullcontext(1.0) as one:
        y = x + one
        if op.ReduceMin(y, keepdims=0) > 0.0:
            with nullcontext(y * 2.0) as y:
                z = y + one
        else:
            z = y
    return y, z


@pytest.mark.parametrize(
    "function",
    [returns_inside, within_a_branch, breaks_out, changes_a_variable_twice],
    ids=lambda f: f.__name__,
)
def test_is_the_same_eagerly_and_in_a_model(function: Any) -> None:
    made: ScriptFunction = cast(Any, script)(function)
    model = made.to_model()
    for x in INPUTS:
        expected, actual = made(x), model(x)
        pairs = zip(expected, actual, strict=True) if isinstance(expected, tuple) else [(expected, actual)]
        for a, b in pairs:
            np.testing.assert_array_equal(a, b)


def test_contexts_are_left_before_what_follows() -> None:
    lock = threading.Lock()

    def locked(x: FLOAT["N"]):
        with lock:
            if op.ReduceMax(x, keepdims=0) > 1.0:
                return x
            y = op.Tanh(x)
        with lock:  # would wait for ever if the first had been carried along
            return op.Neg(y)

    made: ScriptFunction = cast(Any, script)(locked)
    assert not lock.locked()
    for x in INPUTS:
        np.testing.assert_allclose(made(x), made.to_model()(x), rtol=1e-6)


_TABLE = {"a": 1.0}


def keeps_what_was_assigned(x: FLOAT["N"]):
    k = 1.0
    with suppress(KeyError):
        k = 2.0
        k = _TABLE["b"]
    return x * k


def goes_on_after_a_return(x: FLOAT["N"]):
    with suppress(KeyError):
        return x * _TABLE["b"]
    return x * 2.0


def in_each_iteration(x: FLOAT["N"]):
    for key in ("a", "b"):
        with suppress(KeyError):
            x = x + 1.0
            x = x * _TABLE[key]
    return x


@pytest.mark.parametrize(
    "function", [keeps_what_was_assigned, goes_on_after_a_return, in_each_iteration], ids=lambda f: f.__name__
)
def test_what_a_context_catches(function: Any) -> None:
    x = INPUTS[0]
    np.testing.assert_array_equal(script(function).to_model()(x), function(x))
    np.testing.assert_array_equal(xp.jit(function)(x), function(x))


def in_a_branch(x: FLOAT["N"]):
    k = 1.0
    with suppress(KeyError):
        if x[0] > 0.0:
            k = _TABLE["b"]
        k = k + 1.0
    return x * k


def what_a_model_cannot(x: FLOAT["N"]):
    k = 1.0
    with suppress(TypeError):
        k = [1.0, 2.0][len(x)]
    return x * k


@pytest.mark.parametrize(
    ("function", "error"),
    [(in_a_branch, UnsupportedSyntaxError), (what_a_model_cannot, TracedValueError)],
    ids=lambda f: f.__name__,
)
def test_what_no_context_catches(function: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"only the model knows|only when the model runs"):
        script(function).to_model()


def keeps_what_was_assigned_before(x):
    k = 1.0
    try:
        k = 2.0
        k = _TABLE["b"]
    except KeyError:
        pass
    return x * k


def counts_until_the_error(x):
    k = 0
    try:
        k += 1
        k += [1, 2][5]
    except IndexError:
        return x * k
    return x


@pytest.mark.parametrize("function", [keeps_what_was_assigned_before, counts_until_the_error])
def test_variables_have_the_values_of_the_moment_of_the_error(function: Any) -> None:
    x = INPUTS[0]
    np.testing.assert_array_equal(xp.jit(function)(x), function(x))


def test_an_error_that_only_the_model_knows_of_is_not_caught() -> None:
    def f(x):
        k = 1.0
        try:
            if x.sum() > 0:
                k = _TABLE["b"]
            k = k + 1
        except KeyError:
            k = 5.0
        return x * k

    with pytest.raises(UnsupportedSyntaxError, match="only the model knows whether this is raised"):
        xp.jit(f)(INPUTS[0])
