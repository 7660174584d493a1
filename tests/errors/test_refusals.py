"""A refusal that the code catches is raised all the same: an eager run raises nothing there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, trace
from onnxsmith.errors import OnnxsmithError, ShapeError, TracedValueError

X = np.array([3.0, 5.0], np.float32)


def converted(x):
    try:
        return float(x.sum())
    except (TypeError, ValueError):
        return -1.0


def looked_up(x):
    try:
        return {2: 3.0}[x.shape[0]]
    except (KeyError, TypeError):
        return 0.5


def shown(x):
    with suppress(Exception):
        return float(len(str(x)))
    return 0.5


def replaced(x):
    try:
        return [1.0, 2.0, 3.0][x.shape[0]]
    except TypeError as error:
        raise ValueError("no such element") from error


def tried_again(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args):
        for _ in range(2):
            try:
                return function(*args)
            except Exception:
                continue
        return 100.0

    return run


@tried_again
def decided(x):
    return 2.0 if (x > 0).any() else 1.0


class Sized:
    def __init__(self, x):
        self.x = x

    @property
    def factor(self):
        try:
            return [1.0, 2.0, 3.0][self.x.shape[0]]
        except Exception:
            return 0.5


def held(x):
    return Sized(x).factor


HELPERS = [converted, looked_up, shown, replaced, decided, held]


@pytest.mark.parametrize("helper", HELPERS, ids=lambda f: f.__name__)
def test_in_a_script_and_in_a_trace(helper: Callable[..., Any]) -> None:
    def program(x: FLOAT["N"]):
        return x * helper(x)

    with pytest.raises(TracedValueError, match="only when the model runs") as caught:
        script(program).to_model()
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    with pytest.raises(TracedValueError, match="only when the model runs"):
        trace(lambda x: x * helper(x), FLOAT["N"])


def test_a_library_that_catches_it() -> None:
    def program(x: FLOAT["N"]):
        return x * (2.0 if np.array_equal([len(x)], [2]) else 1.0)

    with pytest.raises(ShapeError, match="array_equal") as caught:
        script(program).to_model()
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_in_numpy_code() -> None:
    with pytest.raises(OnnxsmithError):
        xp.jit(lambda x: x * held(x))(X)


def test_code_that_names_the_error_may_catch_it() -> None:
    def helper(x):
        try:
            return float(x.sum())
        except TracedValueError:
            return x.sum()

    np.testing.assert_array_equal(trace(lambda x: x * helper(x), FLOAT["N"])(X), X * X.sum())


def test_errors_of_the_eager_run_may_be_caught() -> None:
    def helper(x):
        try:
            return x @ np.zeros((3, 3), np.float32)
        except ValueError:
            return x

    def program(x: FLOAT[2]):
        return helper(x) * 2.0

    np.testing.assert_array_equal(script(program)(X), X * 2)
    np.testing.assert_array_equal(script(program).to_model()(X), X * 2)
