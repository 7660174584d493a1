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
    cube = op.Mul(square, r)
    # sin(r + low) = sin r + low cos r, with cos r = 1 - r²/2.
    more = op.Mul(low, op.Sub(number(1), op.Mul(square, number(0.5))))
    sine = op.Add(r, op.Add(op.Mul(cube, horner(_SINE, square)), more))
    half = op.Mul(square, number(0.5))
    whole = op.Sub(number(1), half)
    # What 1 - r²/2 lost to rounding, and the terms behind it.
    lost = op.Sub(op.Sub(number(1), whole), half)
    tail = op.Sub(op.Mul(squared(square), horner(_COSINE, square)), op.Mul(r, low))
    return sine, op.Add(whole, op.Add(lost, tail))


@algorithm(has_gradient=True)
def sin(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Or(op.Equal(quarter, number(1)), op.Equal(quarter, number(3)))
    found = op.Where(is_odd, cosine, sine)
    found = op.Where(op.Greater(quarter, number(1.5)), op.Neg(found), found)
    return chosen(op.Less(op.Abs(x), number(2.0**-27)), x, found)


@algorithm(has_gradient=True)
def cos(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Or(op.Equal(quarter, number(1)), op.Equal(quarter, number(3)))
    found = op.Where(is_odd, sine, cosine)
    is_negative = op.And(op.Greater(quarter, number(0.5)), op.Less(quarter, number(2.5)))
    return op.Where(is_negative, op.Neg(found), found)


@algorithm(has_gradient=True)
def tan(x: Tensor) -> Tensor:
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    is_odd = op.Or(op.Equal(quarter, number(1)), op.Equal(quarter, number(3)))
    above, below = op.Where(is_odd, op.Neg(cosine), sine), op.Where(is_odd, sine, cosine)
    return chosen(op.Less(op.Abs(x), number(2.0**-27)), x, op.Div(above, below))


@algorithm(has_gradient=True)
def atan(x: Tensor) -> Tensor:
    size = op.Abs(x)
    is_large = op.Greater(size, number(1.0))
    small = op.Where(is_large, op.Reciprocal(size), size)
    angle = op.Mul(small, on_interval(near.ATAN, squared(small), 0.0, 1.0))
    return copysign(op.Where(is_large, op.Sub(number(PI / 2), angle), angle), x)


@algorithm(has_gradient=True)
def asin(x: Tensor) -> Tensor:
    rest = op.Mul(op.Sub(number(1.0), x), op.Add(number(1.0), x))
    return copysign(atan(op.Div(x, op.Sqrt(rest))), x)


@algorithm(has_gradient=True)
def acos(x: Tensor) -> Tensor:
    return op.Mul(
        atan(op.Sqrt(op.Div(op.Sub(number(1.0), x), op.Add(number(1.0), x)))),
        number(2.0),
    )


@algorithm(has_gradient=True)
def sinh(x: Tensor) -> Tensor:
    size = op.Abs(x)
    grown = expm1(size)
    half = op.Mul(number(0.5), op.Add(grown, op.Div(grown, op.Add(grown, number(1.0)))))
    return copysign(op.Where(op.Greater(size, number(30.0)), _half_exponential(size), half), x)


@algorithm(has_gradient=True)
def cosh(x: Tensor) -> Tensor:
    size = op.Abs(x)
    plain = op.Mul(number(0.5), op.Add(op.Exp(size), op.Exp(op.Neg(size))))
    return op.Where(op.Greater(size, number(30.0)), _half_exponential(size), plain)


def _half_exponential(x: Tensor) -> Tensor:
    """exp(x) / 2 up to where that overflows, which is beyond where exp(x) does."""
    is_near = op.Less(x, number(700.0))
    root = op.Exp(op.Mul(x, number(0.5)))
    far = op.Mul(op.Mul(number(0.5), root), root)
    return op.Where(is_near, op.Mul(number(0.5), op.Exp(op.Where(is_near, x, number(0)))), far)


@algorithm(has_gradient=True)
def tanh(x: Tensor) -> Tensor:
    # ONNX Runtime's own loses three bits away from 0; near 0 the exponential would.
    size = op.Abs(x)
    rest = op.Div(number(2), op.Add(op.Exp(op.Mul(size, number(2))), number(1)))
    far = op.Mul(op.Sign(x), op.Sub(number(1), rest))
    return chosen(op.Less(size, number(1)), op.Tanh(x), far)


@algorithm(has_gradient=True)
def asinh(x: Tensor) -> Tensor:
    size = op.Abs(x)
    square = squared(size)
    grown = op.Div(square, op.Add(number(1.0), op.Sqrt(op.Add(square, number(1.0)))))
    close = log1p(op.Add(size, grown))
    far = op.Add(op.Log(size), number(float(np.log(2.0))))
    return copysign(op.Where(op.Greater(size, number(1e9)), far, close), x)


@algorithm(has_gradient=True)
def acosh(x: Tensor) -> Tensor:
    over = op.Sub(x, number(1.0))
    close = log1p(op.Add(over, op.Sqrt(op.Mul(over, op.Add(x, number(1.0))))))
    far = op.Add(op.Log(x), number(float(np.log(2.0))))
    value = op.Where(op.Greater(x, number(1e9)), far, close)
    return where(op.Less(x, number(1.0)), NAN, value)


@algorithm(has_gradient=True)
def atanh(x: Tensor) -> Tensor:
    size = op.Abs(x)
    double = op.Add(size, size)
    ratio = op.Div(size, op.Sub(number(1.0), size))
    less = op.Add(double, op.Mul(double, ratio))
    more = op.Add(ratio, ratio)
    grown = op.Where(op.Less(size, number(0.5)), less, more)
    return copysign(op.Mul(number(0.5), log1p(grown)), x)
