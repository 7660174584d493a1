"""Gradients of arithmetic with operands of one shape and of others, which are broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

X = np.array([[-2.3, -0.8, -0.2], [0.3, 0.9, 3.7]])
Y = np.array([[1.4, 0.5, -1.1], [2.2, -0.7, 0.6]])
ROW, ONE = np.array([1.3, -0.4, 2.1]), np.array(0.7)
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Add": (lambda x, y: op.Add(x, y), X, Y),
    "Sub": (lambda x, y: op.Sub(x, y), X, Y),
    "Mul": (lambda x, y: op.Mul(x, y), X, Y),
    "Div": (lambda x, y: op.Div(x, y), X, Y),
    "Sum": (lambda x, y: op.Sum(x, y), X, Y),
    "Mean": (lambda x, y: op.Mean(x, y), X, Y),
    "Max": (lambda x, y: op.Max(x, y), X, Y),
    "Min": (lambda x, y: op.Min(x, y), X, Y),
    "Add of a row": (lambda x, y: op.Add(x, y), ROW, X),
    "Sub of a row": (lambda x, y: op.Sub(x, y), ROW, X),
    "Mul of a row": (lambda x, y: op.Mul(x, y), ROW, X),
    "Div of a row": (lambda x, y: op.Div(x, y), ROW, X),
    "Max of a row": (lambda x, y: op.Max(x, y), ROW, X),
    "Min of a row": (lambda x, y: op.Min(x, y), ROW, X),
    "Add by a number": (lambda x, y: op.Add(x, y), X, ONE),
    "Sub by a number": (lambda x, y: op.Sub(x, y), X, ONE),
    "Mul by a number": (lambda x, y: op.Mul(x, y), X, ONE),
    "Div by a number": (lambda x, y: op.Div(x, y), X, ONE),
    "Min by a number": (lambda x, y: op.Min(x, y), X, ONE),
    "Sum of three": (lambda x, y, z: op.Sum(x, y, z), X, ROW, ONE),
    "Mean of three": (lambda x, y, z: op.Mean(x, y, z), X, ROW, ONE),
    "Max of three": (lambda x, y, z: op.Max(x, y, z), X, ROW, ONE),
    "Min of three": (lambda x, y, z: op.Min(x, y, z), X, ROW, ONE),
    "Pow": (lambda x, y: op.Pow(x, y), np.abs(X), Y),
    "Pow by a constant": (lambda x: op.Pow(x, np.float64(3.0)), X),
    "Pow of a constant": (lambda y: op.Pow(np.float64(2.0), y), Y),
    "Mod": (lambda x, y: op.Mod(x, y, fmod=1), X, Y),
    "Where": (lambda x, y: op.Where(np.array([True, False, True]), x, y), X, Y),
    "Where of a row": (lambda x, y: op.Where(X > 0, x, y), ROW, ONE),
    "Clip": (lambda x, low, high: op.Clip(x, low, high), X, np.array(-1.0), np.array(1.0)),
    "Clip from below": (lambda x, low: op.Clip(x, low), X, np.array(-0.5)),
    "Clip from above": (lambda x: op.Clip(x, None, np.float64(0.5)), X),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("arithmetic") == []
