"""Calls that were made before: inside a script and outside of it they give, and refuse, what the first call does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import INT64, script
from onnxsmith import opset21 as op
from onnxsmith.core.target import ACTIVE
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime import clear_cache
from onnxsmith.runtime.target import EagerTarget
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.scripting.functions.eager_call import EAGER_TARGET


@script
def taken(x: INT64["N"], k: INT64["M"]):
    return op.Gather(x, k)


@script
def divided(x: INT64["N"], k: INT64["M"]):
    return op.Div(x, k)


@script
def added(x: INT64["N"], k: INT64["M"]):
    return x + k


X = np.int64([10, 20, 30])
#: Of each function, what runs and what is wrong.
CALLS: dict[str, tuple[Callable[..., Any], np.ndarray, np.ndarray]] = {
    "Gather": (op.Gather, np.int64([0, 2, 1]), np.int64([0, 7, 1])),
    "Div": (op.Div, np.int64([1, 2, 3]), np.int64([1, 0, 3])),
    "Add": (op.Add, np.int64([1, 2, 3]), np.int64([1, 2])),
    "Gather in a script": (taken, np.int64([0, 2, 1]), np.int64([0, 7, 1])),
    "Div in a script": (divided, np.int64([1, 2, 3]), np.int64([1, 0, 3])),
    "+ in a script": (added, np.int64([1, 2, 3]), np.int64([1, 2])),
}


def told(call: Callable[..., Any], *args: Any) -> object:
    with pytest.raises(OnnxsmithError) as caught:
        call(*args)
    error = caught.value
    return type(error), error.code, error.message, error.help, [str(each) for each in error.labels]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_a_known_form_fails_as_a_first_one(name: str) -> None:
    call, good, bad = CALLS[name]
    clear_cache()
    first = told(call, X, bad)
    results = [call(X, good) for _ in range(3)]
    assert told(call, X, bad) == first
    assert all(np.array_equal(each, results[0]) for each in results)


def test_results_inside_a_script_are_tensors_each_time() -> None:
    clear_cache()
    for _ in range(3):
        assert type(op.Abs(X)) is np.ndarray
        token = ACTIVE.set(EAGER_TARGET)
        try:
            assert type(op.Abs(X)) is EagerTensor
        finally:
            ACTIVE.reset(token)


def test_a_target_of_somebody_else_sees_calls_of_a_known_form() -> None:
    class Noting(EagerTarget):
        """Notes the operators that it runs."""

        def emit(self, call: Any) -> tuple[Any, ...]:
            names.append(call.op.name)
            return super().emit(call)

    names: list[str] = []
    for _ in range(3):
        op.Abs(X)
    token = ACTIVE.set(Noting())
    try:
        op.Abs(X)
        op.Abs(X)
    finally:
        ACTIVE.reset(token)
    assert names == ["Abs", "Abs"]
