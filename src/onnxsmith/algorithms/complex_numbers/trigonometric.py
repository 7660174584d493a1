"""Circular and hyperbolic functions of complex numbers and their inverses, in double precision, with C99's values.

The circular ones are the hyperbolic ones, turned by a right angle.
"""

from __future__ import annotations

import math

from onnxsmith.algorithms.angles import atan2, hypot
from onnxsmith.algorithms.complex_numbers.elementary import (
    INFINITY,
    NAN,
    ONE,
    ZERO,
    grown,
    is_finite,
    is_zero,
    log,
    signed_zero,
    sqrt,
)
from onnxsmith.algorithms.complex_numbers.field import Field, imaginary
from onnxsmith.algorithms.complex_numbers.pair import zeros_like
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import circular, double
from onnxsmith.algorithms.special.double import number, squared
from onnxsmith.algorithms.special.float_parts import chosen, copysign

#: Beyond, the inverse functions are logarithms to double precision.
_FAR = 1e9


def turned(z: Field) -> Field:
    """i z."""
    return Field(-imaginary(z), z.re)


def turned_back(z: Field) -> Field:
    """-i z."""
    return Field(imaginary(z), -z.re)


def _waves(y: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine of an angle; of one that is no number NaN."""
    angle = op.Where(is_finite(y), y, NAN)
    return circular.cos(angle), chosen(is_zero(y), y, circular.sin(angle))


def sinh(z: Field) -> Field:
    """The hyperbolic sine."""
    x, y = z.re, imaginary(z)
    cosine, sine = _waves(y)
    re, im = (
        _enlarged(x, circular.sinh(x), cosine, is_odd=True),
        _enlarged(x, circular.cosh(x), sine, is_odd=False),
    )
    # Of an angle that is no number: zero stays, and so does infinity, but for its sign.
    is_lost = ~is_finite(y)
    re = chosen(is_lost & is_zero(x), x, op.Where(is_lost & op.IsInf(x), INFINITY, re))
    return Field(re, chosen(is_zero(y), y, im))


def cosh(z: Field) -> Field:
    """The hyperbolic cosine."""
    x, y = z.re, imaginary(z)
    cosine, sine = _waves(y)
    re, im = (
        _enlarged(x, circular.cosh(x), cosine, is_odd=False),
        _enlarged(x, circular.sinh(x), sine, is_odd=True),
    )
    is_lost = ~is_finite(y)
    re = op.Where(is_lost & op.IsInf(x), INFINITY, re)
    nothing = copysign(_like_one(x), x) * signed_zero(y)
    im = chosen(is_zero(y), chosen(op.IsNaN(x), y, nothing), im)
    return Field(re, chosen(is_lost & is_zero(x), zeros_like(x), im))


def _like_one(x: Tensor) -> Tensor:
    return op.Where(op.Equal(x, x), ONE, ONE)


def _enlarged(x: Tensor, size: Tensor, wave: Tensor, *, is_odd: bool) -> Tensor:
    """sinh or cosh of x times a wave; far out half an exponential, which the wave may bring back from overflow."""
    is_far = abs(x) > 30
    # Half of the smallest numbers is 0: they are halved when they have grown.
    is_tiny = abs(wave) < 1e-300
    half = number(0.5)
    beyond = grown(abs(x), chosen(is_tiny, wave, op.Mul(half, wave)))
    beyond = chosen(is_tiny, op.Mul(half, beyond), beyond)
    beyond = beyond * copysign(_like_one(x), x) if is_odd else beyond
    return chosen(is_far, beyond, size * wave)


def tanh(z: Field) -> Field:
    """The hyperbolic tangent."""
    x, y = z.re, imaginary(z)
    cosine, sine = _waves(y)
    near = op.Min(op.Max(x, number(-22)), 22)
    sinh_x, cosh_x = circular.sinh(near), circular.cosh(near)
    divisor = squared(cosine) + squared(sinh_x)
    re = cosh_x * sinh_x / divisor
    im = sine * cosine / divisor
    # Far out it is one but for an imaginary part that vanishes.
    is_far = abs(x) > 22
    vanishing = 4 * sine * cosine * op.Exp(-2 * abs(x))
    re = chosen(is_far, copysign(_like_one(x), x), re)
    im = chosen(is_far, vanishing, im)
    is_lost = ~is_finite(y)
    re = chosen(is_lost, chosen(is_zero(x), x, op.Where(op.IsInf(x), re, NAN)), re)
    im = chosen(is_lost & op.IsInf(x), signed_zero(y), im)
    return Field(re, chosen(is_zero(y), y, im))


def sin(z: Field) -> Field:
    """The sine."""
    found = turned_back(sinh(turned(z)))
    # Beside a real part that is no number the sign of infinity is not known, and plus.
    is_lost = ~is_finite(z.re) & op.IsInf(imaginary(z))
    return Field(found.re, chosen(is_lost, abs(imaginary(found)), imaginary(found)))


def cos(z: Field) -> Field:
    """The cosine."""
    return cosh(turned(z))


def tan(z: Field) -> Field:
    """The tangent."""
    return turned_back(tanh(turned(z)))


def _is_far(z: Field) -> Tensor:
    """Where a part is large or infinite, whatever the other."""
    return (abs(z.re) > _FAR) | (abs(imaginary(z)) > _FAR)


def _near(z: Field) -> Field:
    """The number where it is not far, else zero, for which nothing overflows."""
    is_far = _is_far(z)
    return z.map(lambda part: op.Where(is_far, ZERO, part))


def _doubled_log(z: Field) -> Tensor:
    """log(2 |z|)."""
    return log(z).re + math.log(2)


def _roots(z: Field) -> tuple[Field, Field]:
    """The roots of 1 - z and 1 + z."""
    x, y = z.re, imaginary(z)
    return sqrt(Field(ONE - x, -y)), sqrt(Field(ONE + x, y))


def asin(z: Field) -> Field:
    """The arcsine (Kahan)."""
    x, y = z.re, imaginary(z)
    near = _near(z)
    below, above = _roots(near)
    re = atan2(near.re, _real_product(below, above))
    im = circular.asinh(_imaginary_product(below.conj(), above))
    is_far = _is_far(z)
    re = op.Where(is_far, atan2(abs(x), abs(y)), abs(re))
    im = op.Where(is_far, _doubled_log(z), abs(im))
    re = op.Where(is_zero(x) & op.IsNaN(y), ZERO, re)
    return Field(copysign(re, x), copysign(im, y))


def asinh(z: Field) -> Field:
    """The inverse hyperbolic sine."""
    return turned_back(asin(turned(z)))


def acos(z: Field) -> Field:
    """The arccosine (Kahan)."""
    x, y = z.re, imaginary(z)
    near = _near(z)
    below, above = _roots(near)
    re = 2 * atan2(below.re, above.re)
    im = circular.asinh(_imaginary_product(above.conj(), below))
    is_far = _is_far(z)
    re = op.Where(is_far, atan2(abs(y), x), re)
    im = op.Where(is_far, _doubled_log(z), abs(im))
    re = op.Where(is_zero(x) & op.IsNaN(y), number(math.pi / 2), re)
    return Field(re, -copysign(im, y))


def acosh(z: Field) -> Field:
    """The inverse hyperbolic cosine: the arccosine turned to the right."""
    found = acos(z)
    re, im = abs(imaginary(found)), abs(found.re)
    return Field(re, copysign(im, imaginary(z)))


def atanh(z: Field) -> Field:
    """The inverse hyperbolic tangent."""
    x, y = z.re, imaginary(z)
    near = _near(z)
    size, across = abs(near.re), abs(imaginary(near))
    less, more = ONE - size, ONE + size
    square = squared(across)
    ratio = 4 * size / (squared(less) + square)
    re = 0.25 * double.log1p(ratio)
    # Beside one the square of the imaginary part may vanish.
    is_beside = is_zero(less) & (across < 1e-10)
    beside = 0.5 * (math.log(2) - op.Log(across))
    re = op.Where(is_beside, beside, re)
    im = 0.5 * atan2(across + across, less * more - square)
    is_far = _is_far(z)
    length = hypot(x, y)
    vanishing = op.Where(op.IsInf(length), ZERO, op.Div(op.Div(abs(x), length), length))
    re = op.Where(is_far, vanishing, re)
    missing = op.Where(op.IsInf(length), ZERO, op.Div(op.Div(abs(y), length), length))
    turned_far = op.Where(op.IsNaN(y), NAN, (math.pi / 2) - missing)
    im = op.Where(is_far, turned_far, im)
    re = op.Where(is_zero(x) & op.IsNaN(y), ZERO, re)
    return Field(copysign(re, x), copysign(im, y))


def atan(z: Field) -> Field:
    """The arctangent."""
    return turned_back(atanh(turned(z)))


def _real_product(x: Field, y: Field) -> Tensor:
    return x.re * y.re - imaginary(x) * imaginary(y)


def _imaginary_product(x: Field, y: Field) -> Tensor:
    return x.re * imaginary(y) + imaginary(x) * y.re
