"""The parts of functions in double precision, from operators that ONNX Runtime's CPU has for doubles.

Functions of this package take and give DOUBLE tensors, unless they say otherwise; who calls them casts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.float_parts import chosen, power_of_two
from onnxsmith.algorithms.values import like
from onnxsmith.core.value import Array
from onnxsmith.types.dtypes import DType

PI = float(np.pi)
INFINITY = float("inf")
NAN = float("nan")


def number(value: float) -> np.float64:
    """A number that double precision holds."""
    return np.float64(value)


def horner(coefficients: Sequence[float], t: Tensor) -> Tensor:
    """A polynomial of `t`, highest power first, of degree one at least."""
    first, second, *others = coefficients
    result = t * first + second
    for each in others:
        result = t * result + each
    return result


def on_interval(coefficients: Sequence[float], x: Tensor, low: float, high: float) -> Tensor:
    """A polynomial that approximates a function for x between two numbers."""
    scale = 2.0 / (high - low)
    return horner(coefficients, x * scale - (low * scale + 1.0))


def where(condition: Tensor, x: Tensor | float, y: Tensor | float) -> Tensor:
    """One of two, either of which may be a Python number."""
    chosen = [number(each) if isinstance(each, int | float) else each for each in (x, y)]
    return op.Where(condition, *chosen)


def zero(x: Tensor) -> Array:
    """A zero of the element type of a tensor."""
    return like(0, x)


def is_whole(x: Tensor) -> Tensor:
    """True if a number has no fraction."""
    return op.Equal(x, op.Floor(x))


def squared(x: Tensor) -> Tensor:
    return x * x


@algorithm(has_gradient=True)
def log1p(x: Tensor) -> Tensor:
    """log(1 + x), of any float type, without losing a small x."""
    one = like(1, x)
    total = x + one
    plain = op.Log(total)
    # What rounding took from the sum, exactly (Knuth), moves the logarithm by its share.
    part = total - one
    missing = op.Sub(one, total - part) + (x - part)
    close = plain + missing / total
    is_plain = (total > zero(x)) & (total < np.inf)
    return _with_tiny(x, op.Where(is_plain, close, plain))


#: Taylor's coefficients of (exp(r) - 1 - r) / r² for r up to half of log 2, highest power first.
_EXPM1 = [1 / math.factorial(k) for k in range(15, 1, -1)]
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@algorithm(has_gradient=True)
def expm1(x: Tensor) -> Tensor:
    """exp(x) - 1, of any float type, without losing a small x."""
    if x.dtype is not DType.DOUBLE:
        one, half = like(1, x), like(0.5, x)
        t = op.Tanh(x * half)
        close = (t + t) / op.Sub(one, t)
        return op.Where(abs(x) < half, close, op.Exp(x) - one)
    is_close = abs(x) < 3
    near = op.Where(is_close, x, number(0))
    # x = k log 2 + r, with the first part of log 2 short enough for an exact product.
    count = op.Round(near * (1 / math.log(2)))
    r = near - count * _LOG_2_HIGH - count * _LOG_2_LOW
    grown = r + squared(r) * horner(_EXPM1, r)
    scale = power_of_two(count, DType.DOUBLE)
    close = scale * grown + (scale - 1)
    return _with_tiny(x, op.Where(is_close, close, op.Exp(x) - 1))


def _with_tiny(x: Tensor, found: Tensor) -> Tensor:
    """The result, or x itself where it is so small that the result is x; a zero keeps its sign."""
    return chosen(abs(x) < like(1e-20 if x.dtype is DType.DOUBLE else 1e-8, x), x, found)
