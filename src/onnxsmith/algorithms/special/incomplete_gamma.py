"""The incomplete gamma functions: a series to the left, a continued fraction to the right."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.loops import loop
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import NAN, number, where
from onnxsmith.algorithms.special.gamma import lgamma_of_positive
from onnxsmith.algorithms.values import converted
from onnxsmith.types.dtypes import DType

MOST_STEPS = 20_000
PRECISION = 1e-16


def _is_any(condition: Tensor) -> Tensor:
    flat = converted(op.Reshape(condition, [-1]), DType.INT32)
    return converted(op.ReduceMax(op.Concat(flat, np.zeros(1, np.int32), axis=0), keepdims=0), DType.BOOL)


def _lower_sum(a: Tensor, x: Tensor) -> Tensor:
    """1 + x/(a+1) + x²/((a+1)(a+2)) + …"""
    one = op.Expand(number(1.0), op.Shape(a))

    def body(i: Tensor, keep: Tensor, term: Tensor, total: Tensor) -> tuple[Tensor, ...]:
        step = converted(i + 1, DType.DOUBLE)
        term = term * (x / (a + step))
        total = total + term
        return _is_any(term > total * PRECISION), term, total

    return loop(np.int64(MOST_STEPS), [one, one], body)[1]


def _upper_fraction(a: Tensor, x: Tensor) -> Tensor:
    """The continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- …))), by Lentz's method."""
    start = x + 1.0 - a
    d = op.Reciprocal(start)
    c = op.Expand(number(1e300), op.Shape(a))

    def body(i: Tensor, keep: Tensor, c: Tensor, d: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        step = converted(i + 1, DType.DOUBLE)
        over = step * (a - step)
        under = start + (step + step)
        d = op.Reciprocal(over * d + under)
        c = under + over / c
        change = c * d
        moves = abs(change - 1.0) > (2 * PRECISION)
        return _is_any(moves), c, d, value * change

    return loop(np.int64(MOST_STEPS), [c, d, d], body)[2]


def _incomplete(a: Tensor, x: Tensor, is_upper: bool) -> Tensor:
    zero = 0.0 * (_finite(a) + _finite(x))
    a, x = a + zero, x + zero  # both of the result's shape, so that loops keep it
    is_inside = (a > 0.0) & (x > 0.0) & ~(op.IsInf(a) | op.IsInf(x))
    is_right = is_inside & ((x > 1.0) & (x > a))
    inner_a, inner_x = where(is_inside, a, 1.0), where(is_inside, x, 1.0)
    logarithm = inner_a * op.Log(inner_x) - inner_x - lgamma_of_positive(inner_a)
    weight = op.Exp(logarithm)
    lower = weight / inner_a * _lower_sum(inner_a, where(is_right, 0.0, inner_x))
    # Where the fraction is not wanted it is taken at a place where it converges at once.
    fraction = _upper_fraction(where(is_right, inner_a, 1.0), where(is_right, inner_x, 2.0))
    upper = weight * fraction
    value = op.Where(is_right, upper, 1.0 - lower) if is_upper else op.Where(is_right, 1.0 - upper, lower)
    return _at_the_border(a, x, value, is_upper)


def _finite(x: Tensor) -> Tensor:
    return where(op.IsNaN(x) | op.IsInf(x), 0.0, x)


def _at_the_border(a: Tensor, x: Tensor, value: Tensor, is_upper: bool) -> Tensor:
    """The values for arguments that are zero, infinite, negative or no number."""
    all_of_it, nothing = (0.0, 1.0) if is_upper else (1.0, 0.0)
    value = where(op.IsNaN(a) | op.IsNaN(x), NAN, value)
    value = where(op.IsInf(x), all_of_it, value)
    value = where(op.IsInf(a), where(op.IsInf(x), NAN, op.Expand(number(nothing), op.Shape(a))), value)
    value = where(op.Equal(x, 0.0), nothing, value)
    at_zero = where(x > 0.0, op.Expand(number(all_of_it), op.Shape(a)), NAN)
    value = op.Where(op.Equal(a, 0.0), at_zero, value)
    is_outside = (x < 0.0) | (a < 0.0)
    return where(is_outside, NAN, value)


@algorithm(name="lower_incomplete_gamma")
def lower_incomplete(a: Tensor, x: Tensor) -> Tensor:
    """The regularised incomplete gamma function, from 0 to x."""
    return _incomplete(a, x, is_upper=False)


@algorithm(name="upper_incomplete_gamma")
def upper_incomplete(a: Tensor, x: Tensor) -> Tensor:
    """The regularised incomplete gamma function, from x on."""
    return _incomplete(a, x, is_upper=True)
