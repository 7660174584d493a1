"""Variables of the functions around a script that get their values later: never another variable of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith.errors import UnassignedVariableError

#: What would be found instead: globals, and `len` of Python itself.
scale = 100.0
helper = "no function"


def _straight() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return x * scale

    yield f
    scale = 2.0
    yield f


def _in_branch() -> Any:
    @script
    def f(x: FLOAT["N"]):
        if x.sum() > 0:
            x = x * scale
        return x

    yield f
    scale = 2.0
    yield f


def _in_inner_function() -> Any:
    @script
    def f(x: FLOAT["N"]):
        def doubled(y):
            return y * scale

        return doubled(x)

    yield f
    scale = 2.0
    yield f


def _in_lambda() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return (lambda y: y * scale)(x)

    yield f
    scale = 2.0
    yield f


def _in_comprehension() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return sum([y * scale for y in [x]])

    yield f
    scale = 2.0
    yield f


def _in_a_helper() -> Any:
    def doubled(y):
        if y.sum() > 0:
            y = y * scale
        return y

    @script
    def f(x: FLOAT["N"]):
        return doubled(x)

    yield f
    scale = 2.0
    yield f


def _called() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return helper(x)

    yield f

    def helper(y):
        return y * 2.0

    yield f


def _as_an_attribute() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return x * scale.scale

    yield f

    class scale:
        scale = 2.0

    yield f


def _as_a_builtin() -> Any:
    @script
    def f(x: FLOAT["N"]):
        return x * len

    yield f
    len = 2.0
    yield f


@pytest.mark.parametrize(
    "around",
    [
        _straight,
        _in_branch,
        _in_inner_function,
        _in_lambda,
        _in_comprehension,
        _in_a_helper,
        _called,
        _as_an_attribute,
        _as_a_builtin,
    ],
)
def test_a_variable_without_a_value_is_no_other_variable(around: Callable[[], Any]) -> None:
    run = around()
    made = next(run)
    x = np.array([1, 2], np.float32)
    for way in (made.to_model, lambda: made.jit(x)):
        with pytest.raises(UnassignedVariableError, match="has no value yet"):
            way()
    with pytest.raises(NameError):
        made(x)
    next(run)
    for result in (made(x), made.jit(x), made.to_model()(x)):
        np.testing.assert_array_equal(result, [2, 4])
