"""numpy's numbers and arrays beside sizes that only the model knows: every operator, on either side, is numpy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.agreeing import check

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "divmod": lambda a, b: divmod(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}
NUMBERS = [
    np.float64(2.0),
    np.float32(2.0),
    np.float16(2.0),
    np.int64(2),
    np.int32(2),
    np.uint8(2),
    np.bool_(True),
    np.array(2.0, np.float32),
    np.array([1, 2]),
]
MEASURES: dict[str, Callable[..., Any]] = {
    "size": lambda x: len(x),
    "float": lambda x: len(x) / 2,
    "truth": lambda x: len(x) > 2,
}


def _or_error(function: Callable[..., Any], *args: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except TypeError as error:
        return error


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda each: f"{each.dtype}-{each.ndim}")
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_are_numpys_on_both_sides(operator: str, number: Any, measure: str):
    meaning, measured = OPERATORS[operator], MEASURES[measure]

    def number_first(x):
        return meaning(number, measured(x))

    def size_first(x):
        return meaning(measured(x), number)

    x = np.arange(3.0)
    for function in (number_first, size_first):
        if isinstance(_or_error(function, x), TypeError):  # numpy has no such operator: nor has the model
            with pytest.raises((TypeError, ValueError)):
                check(function, x)
        else:
            check(function, x)


FUNCTIONS = [
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "power",
        "fmod",
        "maximum",
        "hypot",
    ),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_xor"),
    *("bitwise_and", "bitwise_or", "left_shift", "right_shift", "gcd", "copysign", "arctan2"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_universal_functions_take_sizes(name: str):
    function = getattr(np, name)
    calls: list[Callable[..., Any]] = [
        lambda x: function(len(x), 2),
        lambda x: function(2, len(x)),
        lambda x: function(len(x), x.size),
        lambda x: function(True, len(x)),
        lambda x: function(len(x) > 1, True),
        lambda x: function(2.5, len(x)),
        lambda x: function(len(x) / 2, 2),
        lambda x: function(np.float32(2), len(x)),
        lambda x: function(len(x), np.int32(2)),
    ]
    x = np.arange(3.0)
    for call in calls:
        if isinstance(_or_error(call, x), TypeError):
            with pytest.raises((TypeError, ValueError)):
                xp.jit(call)(x)
        else:
            check(call, x)


def test_a_comparison_decides():
    def function(x):
        if np.float64(2.5) < len(x) and np.bool_(True) == (len(x) > 1):
            return x[: np.int64(7) & len(x)] * 2
        return x

    jitted = check(function, np.arange(3.0))
    check(function, np.arange(2.0), jitted=jitted)
