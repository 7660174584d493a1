"""Circular and hyperbolic functions and their inverses, in double precision; odd ones keep the sign of zero."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import (
    NAN,
    PI,
    expm1,
    horner,
    log1p,
    number,
    on_interval,
    squared,
    where,
)
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.special.quarter_turns import reduced

#: Taylor's coefficients on a quarter turn around zero, highest power first: of sin(r)/r - 1 and cos(r) - 1 + r²/2.
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(8, 0, -1)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9, 1, -1)]


def _sine_and_cosine(rest: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Of an angle from -pi/4 to pi/4 that is a double word."""
    r, low = rest
    square = squared(r)
    cube = square * r
    # sin(r + low) = sin r + low cos r, with cos r = 1 - r²/2.
    more = low * op.Sub(number(1), square * number(0.5))
    sine = r + (cube * horner(_SINE, square) + more)
    half = square * number(0.5)
    whole = op.Sub(number(1), half)
    # What 1 - r²/2 lost to rounding, and the terms behind it.
    lost = op.Sub(number(1), whole) - half
    tail = squared(square) * horner(_COSINE, square) - r * low
    return sine, whole + (lost + tail)


@algorithm(has_gradient=True)
def sin(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Equal(quarter, number(1)) | op.Equal(quarter, number(3))
    found = op.Where(is_odd, cosine, sine)
    found = op.Where(quarter > number(1.5), -found, found)
    return chosen(abs(x) < number(2.0**-27), x, found)


@algorithm(has_gradient=True)
def cos(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Equal(quarter, number(1)) | op.Equal(quarter, number(3))
    found = op.Where(is_odd, sine, cosine)
    is_negative = (quarter > number(0.5)) & (quarter < number(2.5))
    return op.Where(is_negative, -found, found)


@algorithm(has_gradient=True)
def tan(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Equal(quarter, number(1)) | op.Equal(quarter, number(3))
    above, below = op.Where(is_odd, -cosine, sine), op.Where(is_odd, sine, cosine)
    return chosen(abs(x) < number(2.0**-27), x, above / below)


@algorithm(has_gradient=True)
def atan(x: Tensor) -> Tensor:
    size = abs(x)
    is_large = size > number(1.0)
    small = op.Where(is_large, op.Reciprocal(size), size)
    angle = small * on_interval(near.ATAN, squared(small), 0.0, 1.0)
    return copysign(op.Where(is_large, op.Sub(number(PI / 2), angle), angle), x)


@algorithm(has_gradient=True)
def asin(x: Tensor) -> Tensor:
    rest = op.Sub(number(1.0), x) * op.Add(number(1.0), x)
    return copysign(atan(x / op.Sqrt(rest)), x)


@algorithm(has_gradient=True)
def acos(x: Tensor) -> Tensor:
    return atan(op.Sqrt(op.Sub(number(1.0), x) / op.Add(number(1.0), x))) * number(2.0)


@algorithm(has_gradient=True)
def sinh(x: Tensor) -> Tensor:
    size = abs(x)
    grown = expm1(size)
    half = op.Mul(number(0.5), grown + grown / (grown + number(1.0)))
    return copysign(op.Where(size > number(30.0), _half_exponential(size), half), x)


@algorithm(has_gradient=True)
def cosh(x: Tensor) -> Tensor:
    size = abs(x)
    plain = op.Mul(number(0.5), op.Exp(size) + op.Exp(-size))
    return op.Where(size > number(30.0), _half_exponential(size), plain)


def _half_exponential(x: Tensor) -> Tensor:
    """exp(x) / 2 up to where that overflows, which is beyond where exp(x) does."""
    is_near = x < number(700.0)
    root = op.Exp(x * number(0.5))
    far = op.Mul(number(0.5), root) * root
    return op.Where(is_near, op.Mul(number(0.5), op.Exp(op.Where(is_near, x, number(0)))), far)


@algorithm(has_gradient=True)
def tanh(x: Tensor) -> Tensor:
    # ONNX Runtime's own loses three bits away from 0; near 0 the exponential would.
    size = abs(x)
    rest = op.Div(number(2), op.Exp(size * number(2)) + number(1))
    far = op.Sign(x) * op.Sub(number(1), rest)
    return chosen(size < number(1), op.Tanh(x), far)


@algorithm(has_gradient=True)
def asinh(x: Tensor) -> Tensor:
    size = abs(x)
    square = squared(size)
    grown = square / op.Add(number(1.0), op.Sqrt(square + number(1.0)))
    close = log1p(size + grown)
    far = op.Log(size) + number(float(np.log(2.0)))
    return copysign(op.Where(size > number(1e9), far, close), x)


@algorithm(has_gradient=True)
def acosh(x: Tensor) -> Tensor:
    over = x - number(1.0)
    close = log1p(over + op.Sqrt(over * (x + number(1.0))))
    far = op.Log(x) + number(float(np.log(2.0)))
    value = op.Where(x > number(1e9), far, close)
    return where(x < number(1.0), NAN, value)


@algorithm(has_gradient=True)
def atanh(x: Tensor) -> Tensor:
    size = abs(x)
    double = size + size
    ratio = size / op.Sub(number(1.0), size)
    less = double + double * ratio
    more = ratio + ratio
    grown = op.Where(size < number(0.5), less, more)
    return copysign(op.Mul(number(0.5), log1p(grown)), x)
