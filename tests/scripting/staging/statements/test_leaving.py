"""`return`, `break`, `continue` and `raise` in scripts: known when the model is made, and known to the model alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op
from onnxsmith.errors import UnsupportedSyntaxError

X = np.float32([1.0, -2.0, 3.0])


def stops(x: FLOAT["N"], n: INT64):
    total = x * 0.0
    for _ in range(n):
        if op.ReduceMax(total, keepdims=0) > 5.0:
            break
        total = total + x
    return total


def skips(x: FLOAT["N"], n: INT64):
    total = x * 0.0
    for i in range(n):
        if i % 2 == 1:
            continue
        total = total + x
    return total


def stops_in_known_turns(x: FLOAT["N"], n: INT64):
    total = x
    for k in range(5):
        if k == 1:
            continue
        if k == 3:
            break
        total = total + k
    return total


def returns_early(x: FLOAT["N"], n: INT64):
    if n > 2:
        return x + 1.0
    for _ in range(n):
        x = x * 2.0
    return x


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
@pytest.mark.parametrize(
    "function", [stops, skips, stops_in_known_turns, returns_early], ids=lambda f: f.__name__
)
def test_the_model_leaves_where_python_does(function: Any, count: int) -> None:
    made = script(function)
    total = X
    if function is stops:
        total = X * np.float32(min(count, 2))
    elif function is skips:
        total = X * np.float32((count + 1) // 2)
    elif function is stops_in_known_turns:
        total = X + np.float32(2)
    else:
        total = X + 1 if count > 2 else X * np.float32(2**count)
    n = np.array(count, np.int64)
    np.testing.assert_array_equal(made(X, n), total)
    np.testing.assert_array_equal(made.to_model()(X, n), total)


LIMIT = 3


def raises_what_is_known(x: FLOAT["N"]):
    if LIMIT > 2:
        raise ValueError(f"at most 2, not {LIMIT}")
    return x


def raises_on_a_path_of_the_model(x: FLOAT["N"]):
    if op.ReduceMax(x, keepdims=0) > 2.0:
        raise ValueError("too large")
    return x


def raises_nothing(x: FLOAT["N"]):
    raise
    return x


def test_an_error_that_is_known_is_raised_when_the_model_is_made() -> None:
    with pytest.raises(ValueError, match="at most 2, not 3"):
        script(raises_what_is_known).to_model()


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (raises_on_a_path_of_the_model, 2, "only the model knows whether this line is reached"),
        (raises_nothing, 1, "there is no error to raise again"),
    ],
)
def test_what_a_model_cannot_raise_is_refused_at_its_line(function: Any, line: int, message: str) -> None:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        script(function).to_model()
    assert message in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.line == function.__code__.co_firstlineno + line
