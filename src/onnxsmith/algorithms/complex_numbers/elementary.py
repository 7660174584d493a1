"""Exponentials, logarithms, roots and powers of complex numbers in double precision, with C99's values everywhere.

That is: signs of zeros, infinities, NaN, and numbers whose absolute value overflows. `functions` has shorter ones, for
models in which such numbers do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, hypot, imaginary, real
from onnxsmith.algorithms.complex_numbers.pair import zeros_like
from onnxsmith.algorithms.complex_numbers.selecting import select
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import circular, double
from onnxsmith.algorithms.special.double import number, squared
from onnxsmith.algorithms.special.double_word import product_of, sum_of
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.values import constant, converted
from onnxsmith.types.dtypes import DType

ZERO, ONE, NAN, INFINITY = (number(each) for each in (0, 1, np.nan, np.inf))


def is_finite(x: Tensor) -> Tensor:
    """Where a number is neither infinite nor NaN."""
    return abs(x) < INFINITY


def is_zero(x: Tensor) -> Tensor:
    """Where a number is a zero of either sign."""
    return op.Equal(x, ZERO)


def signed_zero(x: Tensor) -> Tensor:
    """A zero with the sign of a number."""
    return copysign(zeros_like(x), x)


def grown(x: Tensor, factor: Tensor) -> Tensor:
    """exp(x) times a factor of at most one, which may bring it back from overflow."""
    is_far = x > 700
    root = op.Exp(op.Where(is_far, x, ZERO) * 0.5)
    plain = op.Exp(op.Where(is_far, ZERO, x)) * factor
    return chosen(is_far, root * factor * root, plain)


def exp(z: Field) -> Field:
    """e to the power of z."""
    x, y = z.re, imaginary(z)
    is_plain = is_finite(y)
    angle = op.Where(is_plain, y, ZERO)
    re, im = grown(x, circular.cos(angle)), grown(x, circular.sin(angle))
    # Of an angle that is no number: nothing where e to the power of x is zero, else NaN beside an infinity.
    is_vanishing = op.Equal(x, number(-np.inf))
    other_re = op.Where(is_vanishing, ZERO, op.Where(op.Equal(x, INFINITY), x, NAN))
    other_im = chosen(is_vanishing, signed_zero(y), constant(NAN))
    re, im = chosen(is_plain, re, other_re), chosen(is_plain, im, other_im)
    # Of a real number: zeros keep their signs, what is infinite makes none of them NaN, and slopes are right.
    is_large = is_zero(y) & ~(x <= 700)
    of_zero = y * op.Exp(op.Where(x <= 709, x, ZERO))
    return Field(chosen(is_large, op.Exp(x), re), chosen(is_zero(y), of_zero, im))


def _log_of_size(z: Field) -> Tensor:
    """log |z|, right near |z| = 1, and where |z| overflows or is not normal."""
    x, y = z.re, imaginary(z)
    larger = op.Max(abs(x), abs(y))
    is_large, is_small = larger > 1e300, larger < 1e-290
    scale = op.Where(is_large, (2.0**-4), op.Where(is_small, number(2.0**120), ONE))
    shift = op.Where(is_large, (4 * math.log(2)), op.Where(is_small, number(-120 * math.log(2)), ZERO))
    size = hypot(x * scale, y * scale)
    far = op.Log(size) + shift
    is_near = (size > 0.5) & (size < 2)
    is_near = is_near & ~(is_large | is_small)
    near = [op.Where(is_near, each, ZERO) for each in (x, y)]
    return op.Where(is_near, 0.5 * double.log1p(_beyond_one(*near)), far)


def _beyond_one(x: Tensor, y: Tensor) -> Tensor:
    """x² + y² - 1, of which little may be left: in double words."""
    (p, p_low), (q, q_low) = product_of(x, x), product_of(y, y)
    is_less = p < q
    larger, smaller = op.Where(is_less, q, p), op.Where(is_less, p, q)
    high, low = sum_of(larger, number(-1))
    high, lower = sum_of(high, smaller)
    return high + (low + lower + (p_low + q_low))


def log(z: Field) -> Field:
    """The logarithm with an angle from -pi to pi."""
    return Field(_log_of_size(z), z.angle())


def log1p(z: Field) -> Field:
    """log(1 + z), right near zero."""
    x, y = z.re, imaginary(z)
    total = x + ONE
    is_small = (abs(x) < 0.25) & (abs(y) < 0.25)
    near = [op.Where(is_small, each, ZERO) for each in (x, y)]
    # |1 + z|² - 1 = x (x + 2) + y²
    more = near[0] * (near[0] + 2) + squared(near[1])
    plain = log(Field(total, y))
    return Field(chosen(is_small, 0.5 * double.log1p(more), plain.re), imaginary(plain))


def expm1(z: Field) -> Field:
    """exp(z) - 1, right near zero."""
    x, y = z.re, imaginary(z)
    half = circular.sin(0.5 * y)
    less = -2 * squared(half)  # cos - 1
    re = double.expm1(x) * circular.cos(y) + less
    return Field(chosen(is_zero(z.re), chosen(is_zero(y), x, re), re), op.Exp(x) * circular.sin(y))


def sqrt(z: Field) -> Field:
    """The root on the right of the imaginary axis."""
    x, y = z.re, imaginary(z)
    across, along = abs(y), abs(x)
    larger = op.Max(across, along)
    is_large, is_small = larger > 1e300, larger < 1e-290
    scale = op.Where(is_large, (2.0**-4), op.Where(is_small, number(2.0**120), ONE))
    back = op.Where(is_large, 4, op.Where(is_small, number(2.0**-60), ONE))
    along, across = along * scale, across * scale
    root = op.Sqrt(0.5 * (hypot(along, across) + along))
    nothing = is_zero(root)
    other = 0.5 * across / op.Where(nothing, ONE, root)
    root, other = root * back, other * back
    is_left = x < ZERO
    re, im = op.Where(is_left, other, root), op.Where(is_left, root, other)
    # At infinity the other part is zero, or NaN beside NaN; an infinite imaginary part makes both infinite.
    at_infinity = op.IsInf(x)
    rest = op.Where(op.IsNaN(y), NAN, ZERO)
    re = op.Where(at_infinity, op.Where(is_left, rest, INFINITY), re)
    im = op.Where(at_infinity, op.Where(is_left, INFINITY, rest), im)
    is_steep = op.IsInf(y)
    re, im = op.Where(is_steep, INFINITY, re), op.Where(is_steep, INFINITY, im)
    return Field(re, copysign(im, y))


def product(x: Field, y: Field) -> Field:
    """A product as C99 has it: infinite where a factor is, whatever else is NaN."""
    a, b, c, d = x.re, imaginary(x), y.re, imaginary(y)
    plain = Field(a * c - b * d, a * d + b * c)
    is_lost = op.IsNaN(plain.re) & op.IsNaN(imaginary(plain))
    first, second = op.IsInf(a) | op.IsInf(b), op.IsInf(c) | op.IsInf(d)
    a, b, c, d = (
        _boxed(a, first, second),
        _boxed(b, first, second),
        _boxed(c, second, first),
        _boxed(d, second, first),
    )
    re = op.Mul(INFINITY, a * c - b * d)
    im = op.Mul(INFINITY, a * d + b * c)
    return select(is_lost & (first | second), Field(re, im), plain)


def _boxed(part: Tensor, is_infinite: Tensor, beside: Tensor) -> Tensor:
    """A part of a factor that is infinite, as one or zero; beside an infinite factor NaN is zero."""
    unit = copysign(converted(op.IsInf(part), DType.DOUBLE), part)
    cleaned = chosen(beside & op.IsNaN(part), signed_zero(part), part)
    return chosen(is_infinite, unit, cleaned)


def power(z: Field, exponent: Field) -> Field:
    """As numpy has it: whole exponents below a hundred by multiplication, others by the logarithm."""
    general = exp(product(exponent, log(z)))
    is_real = is_zero(imaginary(exponent))
    size = abs(exponent.re)
    is_whole = is_real & op.Equal(op.Floor(size), size) & (size < 100)
    rest = converted(op.Where(is_whole, size, ZERO), DType.INT32)
    # No constants: a sum with one that is zero is left out by ONNX Runtime, and with it the sign of zero.
    nothing = zeros_like(z.re)
    one = Field(nothing + ONE, nothing)
    result, square = one, z
    for bit in range(7):
        is_odd = op.BitwiseAnd(rest, np.int32(1 << bit)) > np.int32(0)
        result = select(is_odd, result * square, result)
        square = square * square
    result = select(exponent.re < ZERO, quotient(one, result), result)
    found = select(is_whole, result, general)
    # numpy writes the first powers out, and infinities come through.
    for count, made in ((1, z), (2, z * z), (3, z * (z * z))):
        found = select(is_real & op.Equal(exponent.re, number(count)), made, found)
    nan = Field(constant(NAN), constant(NAN))
    is_growing = exponent.re > ZERO
    of_zero = select(is_growing, Field(constant(ZERO), constant(ZERO)), nan)
    # A whole power of zero has its slopes; the sum makes its zeros positive.
    positive = Field(found.re + nothing, imaginary(found) + nothing)
    of_zero = select(is_whole & is_growing, positive, of_zero)
    found = select(z.is_nonzero(), found, of_zero)
    return select(exponent.is_nonzero(), found, one)


def quotient(x: Field, y: Field) -> Field:
    """A quotient of complex numbers by Smith's method, in any precision; zero divides each part."""
    across, along = abs(imaginary(y)), abs(y.re)
    by_real = along >= across
    is_zero = op.Equal(along, real(0, y)) & op.Equal(across, real(0, y))
    larger, smaller = chosen(by_real, y.re, imaginary(y)), chosen(by_real, imaginary(y), y.re)
    ratio = smaller / larger
    scale = 1 / (larger + smaller * ratio)
    xr, xi = x.re, imaginary(x)
    re = chosen(by_real, xr + xi * ratio, xr * ratio + xi)
    im = chosen(by_real, xi - xr * ratio, xi * ratio - xr)
    return select(is_zero, Field(xr / along, xi / along), Field(re * scale, im * scale))


def scaled(z: Field, factor: float) -> Field:
    """Times a real number."""
    return z.map(lambda part: part * factor)
