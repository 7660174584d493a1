"""Circular and hyperbolic functions and their inverses, in double precision; odd ones keep the sign of zero."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from onnxsmith.algorithms.loops import several
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
from onnxsmith.algorithms.special.double_word import DoubleWord, ordered_sum, product_of, sum_of
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.values import converted
from onnxsmith.core.value import Array
from onnxsmith.types.dtypes import DType

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


def _in_quarters(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The quarter of an angle, whether it is the second or fourth, and sine and cosine of the rest."""
    quarter, rest = reduced(x)
    sine, cosine = _sine_and_cosine(rest)
    return quarter, op.Equal(quarter, number(1)) | op.Equal(quarter, number(3)), sine, cosine


@algorithm(has_gradient=True)
def sin(x: Tensor) -> Tensor:
    quarter, is_odd, sine, cosine = _in_quarters(x)
    found = op.Where(is_odd, cosine, sine)
    found = op.Where(quarter > number(1.5), -found, found)
    return chosen(abs(x) < number(2.0**-27), x, found)


@algorithm(has_gradient=True)
def cos(x: Tensor) -> Tensor:
    quarter, is_odd, sine, cosine = _in_quarters(x)
    found = op.Where(is_odd, sine, cosine)
    is_negative = (quarter > number(0.5)) & (quarter < number(2.5))
    return op.Where(is_negative, -found, found)


@algorithm(has_gradient=True)
def tan(x: Tensor) -> Tensor:
    _, is_odd, sine, cosine = _in_quarters(x)
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


# -- quarter turns -------------------------------------------------------------------------------------


#: pi/2 in pieces of 33 bits, and what is left.
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
#: What pi/2 is more than its double.
_QUARTER_LOW = 6.123233995736766e-17
#: Angles up to here are taken apart by Cody's and Waite's pieces: the number of quarters has 20 bits.
_NEAR = 1.6e6
#: 2/pi times 2 to the power of 1280.
_TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
_BITS = 1280
_ONE = number(1)
#: The exponents of 53-bit integers that are angles beyond `_NEAR`.
_LOWEST, _HIGHEST = -33, 972


class Reduced(NamedTuple):
    """An angle: quarter turns modulo four, as a number, and the rest from -pi/4 to pi/4 as a double word."""

    quarter: Tensor
    rest: DoubleWord


@functools.cache
def _table() -> Array:
    """2/pi times powers of two, without multiples of four, each as four doubles that lie one behind the other."""
    rows: list[list[float]] = []
    for exponent in range(_LOWEST, _HIGHEST):
        left = _TWO_OVER_PI << exponent if exponent >= 0 else _TWO_OVER_PI >> -exponent
        left &= (4 << _BITS) - 1
        parts: list[float] = []
        for _ in range(4):
            cut = max(left.bit_length() - 53, 0)
            head = left >> cut << cut
            # Python divides integers exactly, and the head has 53 bits.
            parts.append(head / (1 << _BITS) if head else 0.0)
            left -= head
        rows.append(parts)
    return np.array(rows, np.float64)


def _near(x: Tensor) -> Reduced:
    first, second, third, fourth = (number(each) for each in _QUARTER)
    quarters = op.Round(x * (2 / PI))
    high, low = sum_of(x - quarters * first, -(quarters * second))
    high, lower = sum_of(high, -(quarters * third))
    rest = low + lower - quarters * fourth
    return Reduced(_modulo_four(quarters), ordered_sum(high, rest))


def _far(x: Tensor) -> Reduced:
    """Of an angle that is positive."""
    # The exponent from the logarithm, which may be off by one; powers of two are exact.
    exponent = op.Floor(op.Log(x) * (1 / math.log(2))) + _ONE
    fraction = x * op.Pow(number(2), -exponent)
    is_more, is_less = fraction >= _ONE, fraction < 0.5
    fraction = fraction * op.Where(is_more, 0.5, op.Where(is_less, number(2), _ONE))
    exponent = exponent + op.Where(is_more, _ONE, op.Where(is_less, number(-1), number(0)))
    whole = fraction * (2.0**53)
    row = converted(exponent, DType.INT64) - (53 + _LOWEST)
    row = op.Min(op.Max(row, np.int64(0)), (_HIGHEST - _LOWEST - 1))
    factors = op.Gather(_table(), row, axis=0)
    products = [product_of(whole, op.Gather(factors, np.int64(k), axis=-1)) for k in range(4)]
    (p0, e0), (p1, e1), (p2, e2), (p3, _) = products
    high, t0 = sum_of(_modulo_four(p0), e0)
    high, t1 = sum_of(high, p1)
    quarters = op.Round(high)
    high, low = sum_of(high - quarters, t0)
    for term in (t1, e1, p2):
        high, lost = sum_of(high, term)
        low = low + lost
    high, low = ordered_sum(high, low + (e2 + p3))
    angle, error = product_of(high, high - high + (PI / 2))
    error = error + (high * _QUARTER_LOW + low * (PI / 2))
    return Reduced(_modulo_four(quarters), ordered_sum(angle, error))


def _modulo_four(x: Tensor) -> Tensor:
    return x - op.Floor(x * 0.25) * 4


def reduced(x: Tensor) -> Reduced:
    """The angle of a double; no number of an infinite one. What far angles cost is paid where there is one."""
    near = _near(x)
    is_far = (abs(x) > _NEAR) & (abs(x) < np.inf)
    has_far = op.ReduceMax(converted(is_far, DType.INT32), keepdims=0) > np.int32(0)

    def with_far() -> tuple[Tensor, ...]:
        far = _far(op.Where(is_far, abs(x), _NEAR))
        is_negative = x < 0
        quarter = op.Where(is_negative, _modulo_four(4 - far.quarter), far.quarter)
        high, low = (op.Where(is_negative, -each, each) for each in far.rest)
        return (
            op.Where(is_far, quarter, near.quarter),
            op.Where(is_far, high, near.rest[0]),
            op.Where(is_far, low, near.rest[1]),
        )

    def without_far() -> tuple[Tensor, ...]:
        return tuple(op.Identity(each) for each in (near.quarter, *near.rest))

    branches: dict[str, Any] = {"then_branch": with_far, "else_branch": without_far}
    quarter, high, low = several(op.If, has_far, outputs=3, **branches)
    return Reduced(quarter, (high, low))
