"""`with` in scripts: contexts end before what follows, also on paths that only the model decides."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
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
