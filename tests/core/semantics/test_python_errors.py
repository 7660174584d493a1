"""Errors of Python's own code that was given a symbolic value are ours, at the user's line; others stay."""

from __future__ import annotations

import datetime
import decimal
import json
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, opset21, script, trace
from onnxsmith.errors import TracedValueError
from onnxsmith.scripting.functions.function import ScriptFunction

GIVEN_A_NUMBER: list[Callable[[Any], Any]] = [
    lambda x: x * len(json.dumps(x.shape[0])),
    lambda x: x * float(decimal.Decimal(x.shape[0])),
    lambda x: x * datetime.timedelta(days=x.shape[0]).days,
    lambda x: x * statistics.mean([x.shape[0], 2]),
    lambda x: x * len("%d" % x.shape[0]),  # noqa: UP031  # the form is what is tested
]


@pytest.mark.parametrize("program", GIVEN_A_NUMBER)
@pytest.mark.parametrize("stage", [trace, lambda f, kind: script(f).to_model(input_types=[kind])])
def test_code_that_needs_a_number(program: Any, stage: Callable[..., Any]) -> None:
    with pytest.raises(TracedValueError, match="known only when the model runs") as caught:
        stage(program, FLOAT["N"])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert "IntegralNumber" not in str(caught.value)


def test_the_results_of_an_operator_are_no_tensor() -> None:
    def program(x: FLOAT["N"]) -> Any:
        v = opset21.TopK(x, [1])
        return v + 1

    with pytest.raises(TracedValueError, match="has 2 results, in a tuple") as caught:
        script(program)
    assert caught.value.help is not None
    assert "values, indices = op.TopK" in caught.value.help


def test_a_parameter_that_is_none_is_named() -> None:
    def clip(x: FLOAT["N"], low: FLOAT = None) -> Any:  # type: ignore[assignment]
        return opset21.Where(x < low, low, x)

    for stage in (script, lambda f: trace(f, FLOAT["N"])):
        with pytest.raises(TracedValueError, match="'low' is None here") as caught:
            stage(clip)
        assert caught.value.help is not None
        assert "if low is not None" in caught.value.help


class OfTheUser(Exception):
    """An error of the user's own."""


def _raises(x: Any) -> Any:
    raise OfTheUser("no")


def _helper(a: Any, b: Any) -> Any:
    return a + b


ERRORS: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (_raises, OfTheUser),
    (lambda x: _raises(x), OfTheUser),
    (lambda x: x * {}["missing"], KeyError),
    (lambda x: x * int("text"), ValueError),
    (lambda x: _helper(x), TypeError),  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    (lambda x: x * json.loads("{"), json.JSONDecodeError),
]


@pytest.mark.parametrize(("program", "kind"), ERRORS)
def test_errors_of_the_program_stay(program: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        trace(program, FLOAT["N"])
    assert type(caught.value) is kind


def test_at_of_an_array_names_the_rewrite() -> None:
    def program(x: FLOAT["N"]) -> Any:
        out = np.zeros(3, np.float32)
        for i in range(3):
            out = out.at[i].set(x[i])  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        return out

    made: ScriptFunction = script(program)
    with pytest.raises(AttributeError, match="has no attribute 'at', which tensors have"):
        made(np.float32([1, 2, 3]))


def test_at_of_an_array_names_the_rewrite_when_staged() -> None:
    def program(x: FLOAT["N"]) -> Any:
        out = np.zeros(3, np.float32)
        return out.at[1].set(x[0])  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

    with pytest.raises(AttributeError, match="has no attribute 'at', which tensors have"):
        script(program).to_model()
