"""Special functions of `onnxsmith.algorithms`: their bodies are approximations, and the derivatives are known.

What an approximation by parts gives near its seams is no derivative to second order; and the closed form costs a
tenth of the nodes.
"""

from __future__ import annotations

import math

from onnxsmith.algorithms import division
from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.algorithms.special import (
    bessel,
    circular,
    error_functions,
    float_parts,
    gamma,
    logarithms,
    zeta,
)
from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import chosen, divided, scaled
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import Unary, enter_unary, rule
from onnxsmith.types.dtypes import DType

#: The derivative of the error function at 0.
_ERF_SLOPE = 2.0 / math.sqrt(math.pi)
#: The normal distribution's density at 0.
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@rule("copysign", domain=ALGORITHMS, broadcasts=True)
def copied_sign(step: Step, g: Tensor) -> Cotangents:
    """The size follows the first; of the second only the sign counts, which nothing changes a little."""
    x, y = step.input(), step.input(1)
    return (op.Sign(x) * op.Where(float_parts.signbit(y), -g, g),)


@rule("ldexp", domain=ALGORITHMS, broadcasts=True)
def scaled_by_power_of_two(step: Step, g: Tensor) -> Cotangents:
    return (float_parts.ldexp(g, step.input(1)),)


@rule("modf", domain=ALGORITHMS)
def fraction(step: Step, g: Tensor | None, _: Tensor | None = None) -> Cotangents:
    """The fraction grows as the number does, also where it is 0; the whole number is constant in steps."""
    return (g,)


#: The cotangent of an argument x, of the step, the cotangent g of the result, x and the result y.
_UNARY: dict[str, Unary] = {
    "cbrt": lambda step, g, x, y: divided(step, g, y * y * 3.0),
    "sin": lambda step, g, x, y: g * circular.cos(x),
    "cos": lambda step, g, x, y: -(g * circular.sin(x)),
    "tan": lambda step, g, x, y: scaled(step, g, y * y + 1.0),
    "asin": lambda step, g, x, y: divided(step, g, op.Sqrt((1.0 - x) * (1.0 + x))),
    "acos": lambda step, g, x, y: -divided(step, g, op.Sqrt((1.0 - x) * (1.0 + x))),
    "atan": lambda step, g, x, y: g / (x * x + 1.0),
    "sinh": lambda step, g, x, y: scaled(step, g, circular.cosh(x)),
    "cosh": lambda step, g, x, y: scaled(step, g, circular.sinh(x)),
    "tanh": lambda step, g, x, y: g * (1.0 - y * y),
    "asinh": lambda step, g, x, y: g / op.Sqrt(x * x + 1.0),
    "acosh": lambda step, g, x, y: divided(step, g, op.Sqrt((x - 1.0) * (x + 1.0))),
    "atanh": lambda step, g, x, y: divided(step, g, (1.0 - x) * (1.0 + x)),
    "log1p": lambda step, g, x, y: divided(step, g, x + 1.0),
    "log2": lambda step, g, x, y: divided(step, g, x * math.log(2.0)),
    "log10": lambda step, g, x, y: divided(step, g, x * math.log(10.0)),
    "entropy": lambda step, g, x, y: scaled(step, g, -op.Log(x) - 1.0),
    "expm1": lambda step, g, x, y: scaled(step, g, y + 1.0),
    "erf": lambda step, g, x, y: g * (op.Exp(-(x * x)) * _ERF_SLOPE),
    "erfc": lambda step, g, x, y: -(g * (op.Exp(-(x * x)) * _ERF_SLOPE)),
    "erfinv": lambda step, g, x, y: scaled(step, g, op.Exp(y * y) * (1.0 / _ERF_SLOPE)),
    "normal": lambda step, g, x, y: g * (op.Exp(x * x * -0.5) * _DENSITY),
    "normal_quantile": lambda step, g, x, y: scaled(step, g, op.Exp(y * y * 0.5) * (1.0 / _DENSITY)),
    "lgamma": lambda step, g, x, y: scaled(step, g, gamma.digamma(x)),
    "digamma": lambda step, g, x, y: scaled(step, g, zeta.trigamma(x, DType.DOUBLE)),
    "i0": lambda step, g, x, y: scaled(step, g, bessel.i1(x)),
    "scaled_i0": lambda step, g, x, y: g * (bessel.scaled_i1(x) - op.Sign(x) * y),
    "j0": lambda step, g, x, y: -(g * bessel.j1(x)),
    "y0": lambda step, g, x, y: -scaled(step, g, bessel.y1(x)),
}
enter_unary(_UNARY, domain=ALGORITHMS)


@rule("nextafter", domain=ALGORITHMS, broadcasts=True)
def neighbour(step: Step, g: Tensor) -> Cotangents:
    """It moves with the first; the second says only where it is."""
    return (g,)


@rule("fmax", "fmin", domain=ALGORITHMS, broadcasts=True)
def extreme_number(step: Step, g: Tensor) -> Cotangents:
    """Of equal ones the first has it, as torch has it; beside what is no number, the other."""
    x, y = step.input(0), step.input(1)
    wins = x >= y if step.name == "fmax" else x <= y
    is_first = op.Or(wins, op.IsNaN(y))
    return (lambda: chosen(is_first, g)), (lambda: op.Where(is_first, 0.0, g))


# -- division ------------------------------------------------------------------------------------------------


@rule("floor_divide", domain=ALGORITHMS)
def whole_quotient(step: Step, g: Tensor) -> Cotangents:
    """Constant in steps."""
    return ()


@rule("remainder", domain=ALGORITHMS, broadcasts=True)
def remainder(step: Step, g: Tensor) -> Cotangents:
    x, y = step.input(0), step.input(1)
    return g, lambda: -scaled(step, g, division.floor_divide(x, y))


@rule("floor_divide_and_remainder", domain=ALGORITHMS, broadcasts=True)
def whole_quotient_and_remainder(
    step: Step, _: Tensor | None = None, rest: Tensor | None = None
) -> Cotangents:
    return () if rest is None else (rest, lambda: -scaled(step, rest, step.output(0)))


# -- circular and hyperbolic ---------------------------------------------------------------------------------


@rule("atan2", domain=ALGORITHMS, broadcasts=True)
def angle(step: Step, g: Tensor) -> Cotangents:
    """Flat at the origin, as torch has it."""
    y, x = step.input(0), step.input(1)
    square = x * x + y * y
    return (lambda: scaled(step, g, _ratio(x, square))), (lambda: -scaled(step, g, _ratio(y, square)))


@rule("hypot", domain=ALGORITHMS, broadcasts=True)
def length(step: Step, g: Tensor) -> Cotangents:
    """Flat at the origin, as torch's absolute value of complex numbers is."""
    size = step.output()
    return tuple((lambda k=k: scaled(step, g, _ratio(step.input(k), size))) for k in range(2))


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """A quotient that is 0, and stays so, where the divisor is."""
    is_zero = op.Equal(whole, 0.0)
    return op.Where(is_zero, 0.0, part / op.Where(is_zero, 1.0, whole))


# -- exponentials and error functions ------------------------------------------------------------------------


@rule("logaddexp", domain=ALGORITHMS, broadcasts=True)
def logarithm_of_two_exponentials(step: Step, g: Tensor) -> Cotangents:
    return _by_share(step, g, 1.0)


@rule("logaddexp2", domain=ALGORITHMS, broadcasts=True)
def logarithm_of_two_powers_of_two(step: Step, g: Tensor) -> Cotangents:
    return _by_share(step, g, math.log(2.0))


def _by_share(step: Step, g: Tensor, unit: float) -> Cotangents:
    """The part that one exponential is of the sum of both; of equal infinities a half."""
    x, y = step.input(0), step.input(1)
    are_infinite = op.And(op.Equal(x, y), op.IsInf(x))
    distance = op.Where(are_infinite, 0.0, x - y) * unit
    return (lambda: g * op.Sigmoid(distance)), (lambda: g * op.Sigmoid(-distance))


@rule("xlogy", domain=ALGORITHMS, broadcasts=True)
def number_times_logarithm(step: Step, g: Tensor) -> Cotangents:
    y = step.input(1)
    return (
        lambda: _by_factor(step, g, logarithms.xlogy(g, y), y),
        lambda: scaled(step, g, step.input() / y),
    )


@rule("xlog1py", domain=ALGORITHMS, broadcasts=True)
def number_times_logarithm_of_one_more(step: Step, g: Tensor) -> Cotangents:
    y = step.input(1)
    return (
        lambda: _by_factor(step, g, logarithms.xlog1py(g, y), y + 1.0),
        lambda: scaled(step, g, step.input() / (y + 1.0)),
    )


def _by_factor(step: Step, g: Tensor, product: Tensor, argument: Tensor) -> Tensor:
    """The cotangent times the logarithm; 0 at a factor of 0 where there is no logarithm, as torch has it."""
    is_edge = op.And(op.Equal(step.input(), 0.0), argument <= 0.0)
    if step.is_masked:
        is_edge = op.Or(is_edge, op.And(op.Equal(g, 0.0), op.IsNaN(argument)))
    return op.Where(is_edge, 0.0, product)


@rule("erfcx", domain=ALGORITHMS)
def scaled_rest_of_error_function(step: Step, g: Tensor) -> Cotangents:
    slope = step.input() * step.output() * 2.0 - _ERF_SLOPE
    return (scaled(step, g, slope),)


@rule("log_of_normal", domain=ALGORITHMS)
def logarithm_of_normal_distribution(step: Step, g: Tensor) -> Cotangents:
    """The density by the probability, which is `erfcx` but for a factor: both may be too small to be told from 0."""
    t = step.input() * -math.sqrt(0.5)
    return (g * (2.0 * _DENSITY / error_functions.erfcx(t)),)


# -- gamma and Bessel functions ------------------------------------------------------------------------------


@rule("i1", domain=ALGORITHMS)
def modified_bessel_1(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    slope = bessel.i0(x) - step.output() / op.Where(op.Equal(x, 0.0), 1.0, x)
    return (scaled(step, g, op.Where(op.Equal(x, 0.0), 0.5, slope)),)


@rule("scaled_i1", domain=ALGORITHMS)
def scaled_modified_bessel_1(step: Step, g: Tensor) -> Cotangents:
    x, y = step.input(), step.output()
    slope = bessel.scaled_i0(x) - y * op.Sign(x) - y / op.Where(op.Equal(x, 0.0), 1.0, x)
    return (g * op.Where(op.Equal(x, 0.0), 0.5, slope),)
