"""`to_model` of functions that decorators made of scripts: the model does what the decorated function does."""

from __future__ import annotations

import functools
import gc
import inspect
import time
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError

_X = np.float32([-1, 2, 3])


def timed(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        result = function(*args, **kwargs)
        print(time.perf_counter() - begin)
        return result

    return wrapper


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2

    return wrapper


@timed
@script
def observed(x: FLOAT["N"]):
    return op.Relu(x) + 1.0


@doubled
@script
def changed(x: FLOAT["N"]):
    return op.Relu(x) + 1.0


class Layer:
    bias = 3.0

    @timed
    @script
    def method(self, x: FLOAT["N"]):
        return x + self.bias

    @script
    def scaled(self, x: FLOAT["N"], factor: float = 1.0):
        return (x + self.bias) * factor


@pytest.fixture(autouse=True)
def _seen_by_gc() -> None:
    """The owner of a copied attribute is found by what refers to it, and Python's gc looks past frozen objects."""
    gc.unfreeze()


def test_a_decorated_script_that_was_frozen_is_made_a_script_as_the_error_says() -> None:
    gc.freeze()
    try:
        with pytest.raises(CallError, match=r"make it one: script\(f\)\.to_model"):
            observed.to_model()
        np.testing.assert_allclose(script(observed).to_model()(_X), np.maximum(_X, 0) + 1)
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (observed, np.maximum(_X, 0) + 1),
        (changed, (np.maximum(_X, 0) + 1) * 2),
        (script(Layer().method), _X + 3),
        (script(functools.partial(Layer().scaled, factor=2.0)), (_X + 3) * 2),
    ],
)
def test_eager_and_model(written: Any, expected: Any) -> None:
    assert written.to_model_proto() == written.to_model().proto
    for result in (written(_X), written.to_model()(_X)):
        np.testing.assert_allclose(np.asarray(result), expected)


def test_two_decorators_of_one_script_are_told_apart_or_refused() -> None:
    made = script(lambda x: x + 1.0)
    one = timed(made)
    np.testing.assert_allclose(one.to_model(io_types=FLOAT["N"])(_X), _X + 1)
    other = doubled(made)
    for each in (one, other):
        with pytest.raises(CallError, match=r"make it one: script\(f\)\.to_model"):
            each.to_model(io_types=FLOAT["N"])
    model = script(other).to_model(io_types=FLOAT["N"])
    np.testing.assert_allclose(model(_X), (_X + 1) * 2)
    np.testing.assert_allclose(made.to_model(io_types=FLOAT["N"])(_X), _X + 1)  # the script knows itself


def test_a_method_says_what_to_write() -> None:
    with pytest.raises(CallError, match=r"script\(obj\.method\)\.to_model"):
        Layer().method.to_model()


def test_the_signature_of_a_bound_script_has_no_self() -> None:
    assert list(inspect.signature(Layer().scaled).parameters) == ["x", "factor"]
    assert list(inspect.signature(Layer.scaled).parameters) == ["self", "x", "factor"]


def test_a_method_of_a_script_cannot_be_replaced() -> None:
    made = script(lambda x: x + 1.0)
    with pytest.raises(AttributeError, match="to_model of a script cannot be set"):
        made.to_model = None
