"""Functions of a complex number: exponentials, logarithms, powers, and the trigonometric ones.

Formulas are those that lose nothing near zero and do not overflow on the way (after Kahan).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms import elementary
from onnxsmith.algorithms.angles import atan2
from onnxsmith.algorithms.complex_numbers.field import Field, imaginary, real, where
from onnxsmith.algorithms.complex_numbers.pair import zeros_like
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import log1p
from onnxsmith.algorithms.values import constant, like

Function: TypeAlias = Callable[[Field], Field]


def one(z: Field, value: float = 1.0) -> Field:
    """A real number beside a complex tensor."""
    return Field(constant(real(value, z)))


def _times(value: float, part: Tensor) -> Tensor:
    return part * like(value, part)


def _clipped(part: Tensor, limit: float) -> Tensor:
    low, high = (like(each, part) for each in (-limit, limit))
    return op.Min(op.Max(part, low), high)


def hyperbolic(x: Tensor) -> tuple[Tensor, Tensor]:
    """cosh and sinh of a real tensor."""
    return elementary.function_of("Cosh", x), elementary.function_of("Sinh", x)


def arsinh(x: Tensor) -> Tensor:
    """asinh of a real tensor."""
    return elementary.function_of("Asinh", x)


@algorithm(name="complex_exp")
def exp(z: Field) -> Field:
    """e to the power of z; the imaginary part of a real z stays zero."""
    size = op.Exp(z.re)
    # What is infinite times zero would be no number.
    is_real = op.Equal(imaginary(z), real(0, z))
    finite = op.Where(is_real & op.Equal(size, real(np.inf, z)), real(1, z), size)
    return Field(size * op.Cos(imaginary(z)), finite * op.Sin(imaginary(z)))


@algorithm(name="complex_log")
def log(z: Field) -> Field:
    """The logarithm with an angle from -pi to pi."""
    return Field(op.Log(z.size()), z.angle())


@algorithm(name="complex_log1p")
def log_of_one_more(z: Field) -> Field:
    """log(1 + z), right near zero."""
    more = z.re * (z.re + 2) + imaginary(z) * imaginary(z)  # |1 + z|² - 1
    near = _times(0.5, log1p(more))
    shifted = z + one(z)
    is_near = abs(more) < 0.5
    return Field(op.Where(is_near, near, op.Log(shifted.size())), shifted.angle())


@algorithm(name="complex_sqrt")
def sqrt(z: Field) -> Field:
    """The root on the right of the imaginary axis."""
    zero = real(0, z)
    size = z.size()
    root = op.Sqrt(_times(0.5, size + abs(z.re)))
    is_zero = op.Equal(root, zero)
    other = _times(0.5, abs(imaginary(z))) / op.Where(is_zero, real(1, z), root)
    is_left = z.re < zero
    re, im = op.Where(is_left, other, root), op.Where(is_left, root, other)
    return Field(re, op.Where(imaginary(z) < zero, -im, im))


@algorithm(name="complex_sin")
def sin(z: Field) -> Field:
    """The sine."""
    cosh, sinh = hyperbolic(imaginary(z))
    return Field(op.Sin(z.re) * cosh, op.Cos(z.re) * sinh)


@algorithm(name="complex_cos")
def cos(z: Field) -> Field:
    """The cosine."""
    cosh, sinh = hyperbolic(imaginary(z))
    return Field(op.Cos(z.re) * cosh, -(op.Sin(z.re) * sinh))


@algorithm(name="complex_tanh")
def tanh(z: Field) -> Field:
    """The hyperbolic tangent; beyond 20 it is one."""
    cosh, sinh = hyperbolic(_clipped(z.re, 20.0))
    cosine, sine = op.Cos(imaginary(z)), op.Sin(imaginary(z))
    divisor = cosine * cosine + sinh * sinh
    return Field(cosh * sinh / divisor, sine * cosine / divisor)


def turned(z: Field) -> Field:
    """i z."""
    return Field(-imaginary(z), z.re)


def turned_back(z: Field) -> Field:
    """-i z."""
    return Field(imaginary(z), -z.re)


@algorithm(name="complex_asin")
def asin(z: Field) -> Field:
    """The arcsine."""
    below, above = sqrt(one(z) - z), sqrt(z + one(z))
    return Field(atan2(z.re, (below * above).re), arsinh(imaginary(below.conj() * above)))


@algorithm(name="complex_acos")
def acos(z: Field) -> Field:
    """The arccosine."""
    below, above = sqrt(one(z) - z), sqrt(z + one(z))
    return Field(_times(2.0, atan2(below.re, above.re)), arsinh(imaginary(above.conj() * below)))


@algorithm(name="complex_acosh")
def acosh(z: Field) -> Field:
    """The inverse hyperbolic cosine."""
    below, above = sqrt(z - one(z)), sqrt(z + one(z))
    return Field(arsinh((below.conj() * above).re), _times(2.0, atan2(imaginary(below), above.re)))


@algorithm(name="complex_atanh")
def atanh(z: Field) -> Field:
    """The inverse hyperbolic tangent."""
    unit, size = real(1, z), abs(z.re)
    less, more = op.Sub(unit, size), op.Add(unit, size)
    square = imaginary(z) * imaginary(z)
    ratio = _times(4.0, size) / (less * less + square)
    re = op.Sign(z.re) * _times(0.25, log1p(ratio))
    return Field(re, _times(0.5, atan2(_times(2.0, imaginary(z)), less * more - square)))


@algorithm(name="complex_expm1")
def expm1(z: Field) -> Field:
    """exp(z) - 1, right near zero."""
    half = op.Sin(_times(0.5, imaginary(z)))
    less = _times(-2.0, half * half)  # cos - 1
    size = op.Exp(z.re)
    near = z.re * (1 + _times(0.5, z.re))
    more = op.Where(abs(z.re) < 1e-4, near, size - 1)  # exp - 1
    return Field(more * op.Cos(imaginary(z)) + less, size * op.Sin(imaginary(z)))


@algorithm(name="complex_power")
def power(z: Field, exponent: Field) -> Field:
    """z to the power of a complex number; zero to any but zero is zero."""
    made = exp(log(z) * exponent)
    at_zero = where(exponent.is_nonzero(), one(z, 0.0), one(z))
    return where(z.is_nonzero(), made, at_zero)


@algorithm(name="complex_sigmoid")
def sigmoid(z: Field) -> Field:
    """1 / (1 + exp(-z))."""
    return one(z) / (exp(-z) + one(z))


def _scaled(value: float) -> Function:
    return lambda z: log(z).map(lambda part: _times(value, part))


@algorithm(name="complex_sinc")
def sinc(z: Field) -> Field:
    """sin(pi z) / (pi z), one at zero."""
    z = z.map(lambda part: _times(np.pi, part))
    is_nonzero = z.is_nonzero()
    return where(is_nonzero, sin(z) / where(is_nonzero, z, one(z)), one(z))


def whole_power(z: Field, exponent: float) -> Field | None:
    """A power that is a product or a root; None for others."""
    if exponent == 0:
        zeros = zeros_like(z.re)
        return Field(zeros + 1, zeros)
    if not z.is_complex:
        return None
    if exponent == 0.5:
        return sqrt(z)
    if abs(exponent) in (1, 2, 3):
        made = z
        for _ in range(int(abs(exponent)) - 1):
            made = made * z
        return made if exponent > 0 else one(z) / made
    return None


FUNCTIONS: dict[str, Function] = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": lambda z: turned_back(asin(turned(z))),
    "atan": lambda z: turned_back(atanh(turned(z))),
    "atanh": atanh,
    "cos": cos,
    "cosh": lambda z: cos(turned(z)),
    "exp": exp,
    "exp2": lambda z: exp(z.map(lambda part: _times(np.log(2.0), part))),
    "expm1": expm1,
    "log": log,
    "log10": _scaled(1 / np.log(10.0)),
    "log1p": log_of_one_more,
    "log2": _scaled(1 / np.log(2.0)),
    "rsqrt": lambda z: one(z) / sqrt(z),
    "sigmoid": sigmoid,
    "silu": lambda z: z * sigmoid(z),
    "sin": sin,
    "sinh": lambda z: turned_back(sin(turned(z))),
    "sqrt": sqrt,
    "tan": lambda z: turned_back(tanh(turned(z))),
    "tanh": tanh,
}
