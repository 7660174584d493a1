"""Where numpy code makes a Python number of an element, or an element of a Python number: values, types and errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.agreeing import same

#: Two elements of each type; the second is at an end of its range, or has a fraction.
ELEMENTS = {
    "uint8": [3, 200],
    "int8": [3, -128],
    "int32": [3, -5],
    "int64": [3, -(2**62)],
    "uint64": [3, 2**63 - 1],
    "float32": [2.5, -3.7],
    "float64": [2.5, -3.7],
    "bool": [True, False],
}
MADE: list[Callable[..., Any]] = [
    lambda x: round(x[0]),
    lambda x: 2 - round(x[0]),
    lambda x: round(x[0]) * 100,
    lambda x: round(x[1], None),
    lambda x: round(number=x[1]),
    lambda x: round(x[1], 0),
    lambda x: round(x[1], 1),
    lambda x: max(round(x[0]), 2),
    lambda x: 2 - int(x[0]),
    lambda x: int(x[1]),
    lambda x: float(x[0]) * 1000,
    lambda x: abs(x[1]) * 2,
    lambda x: min(x[0], x[1]),
    lambda x: max(x) * 2,
    lambda x: sum(x),
    lambda x: x[0].item() * 100,
    lambda x: math.floor(x[0]) * 100,
    lambda x: np.round(x[0]),
]


def agrees(function: Callable[..., Any], *args: Any) -> None:
    """The jitted function gives what the function gives, or raises an error of the same class."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function(*args)
        except (ValueError, ArithmeticError, TypeError, IndexError) as error:
            kind = next(each for each in (OverflowError, type(error)) if isinstance(error, each))
            with pytest.raises(kind):
                xp.jit(function)(*args)
            return
        same(xp.jit(function)(*args), expected)


@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("function", MADE)
def test_python_numbers_of_elements(function: Callable[..., Any], dtype: str) -> None:
    agrees(function, np.array(ELEMENTS[dtype], dtype))


def test_an_int_past_64_bits_is_refused_and_not_wrapped() -> None:
    for function in (lambda x: int(x[0]), lambda x: round(x[0])):
        with pytest.raises(OverflowError):
            xp.jit(function)(np.array([2**63], np.uint64))


TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "bool_"]


@pytest.mark.parametrize("name", TYPES)
def test_elements_of_python_numbers(name: str) -> None:
    kind = getattr(np, name)

    def of_size(x):
        return kind(len(x)), kind([len(x), 1])

    def of_negative(x):
        return kind(-len(x))

    def of_float(x):
        return kind(float(x[0]))

    def of_element(x):
        return kind(x[0])

    for size in (5, 130, 300):
        agrees(of_size, np.zeros(size))
        agrees(of_negative, np.zeros(size))
    for value in (np.nan, np.inf, -np.inf, 1e10, 1e20, 3.7, -3.7, -0.5, 255.5):
        agrees(of_float, np.array([value]))
    for value in (3.7, 300.0):
        agrees(of_element, np.array([value]))


BOUNDED: list[Callable[..., Any]] = [
    lambda x: np.clip(x, 0, len(x) * 100),
    lambda x: np.clip(x, -len(x) * 100, 3),
    lambda x: np.clip(x, -len(x) * 100, len(x) * 100),
    lambda x: np.clip(x, len(x) * 100, len(x) * 200),
    lambda x: x.clip(max=-len(x) * 100),
    lambda x: x.clip(len(x), len(x) * 2),
    lambda x: np.minimum(x, len(x) * 100),
]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "float32"])
@pytest.mark.parametrize("function", BOUNDED)
def test_bounds_that_no_element_reaches(function: Callable[..., Any], dtype: str) -> None:
    agrees(function, np.array([5, 1, 9], dtype))


#: Each with the operands that it takes: elements, a size, a number that is known.
MATHEMATICS: list[Callable[..., Any]] = [
    lambda x: math.log(x[0], 10),
    lambda x: math.log(x[0], x[1]),
    lambda x: math.log(10, x[1]),
    lambda x: math.log(len(x), 2),
    lambda x: math.log(x[0], 1),
    lambda x: math.log(x[0], -2.0),
    lambda x: math.log(x[0], x[1] - x[1]),
    lambda x: math.atan2(x[0], x[1]),
    lambda x: math.pow(x[0], len(x)),
    lambda x: math.fmod(x[0], 2),
    lambda x: math.copysign(3, x[1]),
    lambda x: math.hypot(x[0]),
    lambda x: math.hypot(x[0], 2),
    lambda x: math.hypot(x[0], x[1], len(x)),
    lambda x: math.ldexp(x[0], len(x)),
    lambda x: math.ldexp(x[0], x[1]),
    lambda x: math.gcd(len(x), 4, 6),
    lambda x: math.gcd(x[0], x[1]),
    lambda x: math.lcm(x[0]),
    lambda x: math.asinh(x[0]),
    lambda x: math.atan(x[0]),
    lambda x: math.log2(x[0]),
]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("function", MATHEMATICS)
def test_functions_of_math_compute_with_python_numbers(function: Callable[..., Any], dtype: str) -> None:
    agrees(function, np.array([12, 3], dtype))


@pytest.mark.parametrize(
    "function",
    [
        *(math.sqrt, math.log, math.sin, math.atan2, math.floor, math.isnan, math.hypot, math.fmod),
        *(math.acosh, math.copysign, math.erf, math.gcd),
    ],
)
def test_functions_of_math_count_their_arguments(function: Callable[..., Any]) -> None:
    for call in (
        lambda x: function(x[0]),
        lambda x: function(x[0], x[1]),
        lambda x: function(x[0], 2, x[1]),
        lambda x: function(x),
    ):
        agrees(call, np.array([2.5, 3.5]))


def test_what_a_comprehension_demands_before_it_becomes_a_loop_is_demanded_once() -> None:
    def whole(w):
        return np.array([x + 1 for x in np.repeat(w, int(w[0]))])

    jitted = xp.jit(whole)
    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(jitted(x), whole(x))
    with pytest.raises(ValueError, match="NaN to integer"):
        jitted(np.array([np.nan]))
