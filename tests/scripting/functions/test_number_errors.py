"""A division by zero has one error, whether Python divides a script's numbers, or the model, or an operator."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, jit, script
from onnxsmith import opset21 as op
from onnxsmith.errors import DivisionByZeroError, OnnxsmithError
from onnxsmith.scripting.functions.number_errors import division_of

EMPTY = np.zeros(0, np.float32)


@script
def floored(x: FLOAT["N"]):
    return x + 8 // len(x)


@script
def left(x: FLOAT["N"]):
    return x + 8 % x.shape[0]


@script
def both(x: FLOAT["N"]):
    quotient, rest = divmod(8, len(x))
    return x + quotient * rest


@script
def counted(x: FLOAT["N"]):
    for i in range(len(x) + 1):
        x = x + 8 // i
    return x


@script
def called(x: FLOAT["N"]):
    return floored(x)


@pytest.mark.parametrize("function", [floored, left, both, counted, called], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "road", [lambda each: each, jit, lambda each: each.to_model()], ids=["eager", "jit", "model"]
)
def test_all_roads(function: Any, road: Callable[..., Any]) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        road(function)(EMPTY)
    error = caught.value
    assert isinstance(error, DivisionByZeroError)
    assert error.message.endswith(": division by zero")
    assert error.span is not None
    where = (floored if function is called else function).function.__code__.co_firstlineno
    assert error.span.line > where


def test_a_size_that_is_known_when_it_is_staged() -> None:
    with pytest.raises(DivisionByZeroError, match="floored cannot run: division by zero"):
        floored.to_model(input_types=[FLOAT[0]])


@pytest.mark.parametrize("operator", [op.Div, op.Mod])
def test_operators(operator: Any) -> None:
    with pytest.raises(DivisionByZeroError):
        operator(np.array([1]), np.array([0]))
    with pytest.raises(DivisionByZeroError):
        script(lambda a, b: operator(a, b)).to_model(input_types=[INT64["N"], INT64["N"]])(
            np.array([1]), np.array([0])
        )


def test_what_a_library_divides_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Fraction(1, 0)
    assert division_of("f", caught.value) is caught.value


def test_a_power_is_no_division() -> None:
    @script
    def f(x: FLOAT["N"]):
        return x + 0.0 ** -(len(x) + 1)

    with pytest.raises(ZeroDivisionError) as caught:
        f(EMPTY)
    assert not isinstance(caught.value, OnnxsmithError)
