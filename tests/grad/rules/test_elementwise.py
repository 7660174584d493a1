"""Gradients of functions of one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import DOUBLE
from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

#: Within (-1, 1), in (0, 1) and past 1: every function has one of them in its domain.
X, UNIT, PAST = np.array([-0.7, -0.1, 0.4, 0.8]), np.array([0.1, 0.4, 0.9]), np.array([1.2, 2.0, 3.5])
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Identity": (lambda x: op.Identity(x), X),
    "Neg": (lambda x: op.Neg(x), X),
    "Abs": (lambda x: op.Abs(x), X),
    "Exp": (lambda x: op.Exp(x), X),
    "Sin": (lambda x: op.Sin(x), X),
    "Cos": (lambda x: op.Cos(x), X),
    "Tan": (lambda x: op.Tan(x), X),
    "Asin": (lambda x: op.Asin(x), X),
    "Acos": (lambda x: op.Acos(x), X),
    "Atan": (lambda x: op.Atan(x), X),
    "Sinh": (lambda x: op.Sinh(x), X),
    "Cosh": (lambda x: op.Cosh(x), X),
    "Tanh": (lambda x: op.Tanh(x), X),
    "Asinh": (lambda x: op.Asinh(x), X),
    "Atanh": (lambda x: op.Atanh(x), X),
    "Erf": (lambda x: op.Erf(x), X),
    "Reciprocal": (lambda x: op.Reciprocal(x), UNIT),
    "Sqrt": (lambda x: op.Sqrt(x), UNIT),
    "Log": (lambda x: op.Log(x), UNIT),
    "Acosh": (lambda x: op.Acosh(x), PAST),
    "Floor, which is flat": (lambda x: op.Floor(x) + x, X),
    "Ceil, which is flat": (lambda x: op.Ceil(x) + x, X),
    "Round, which is flat": (lambda x: op.Round(x) + x, X),
    "Sign, which is flat": (lambda x: op.Sign(x) + x, X),
    "Cast": (lambda x: op.Cast(x, to=DOUBLE) * 2.0, X),
    "CastLike": (lambda x, y: op.CastLike(x, y) * 2.0, X, X),
}
#: There is no kernel for double precision.
SINGLE = {"Erf"}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays, is_single=name in SINGLE)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("elementwise") == []
