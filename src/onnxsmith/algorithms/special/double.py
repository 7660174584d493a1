"""What functions in double precision are made of, from operators that ONNX Runtime's CPU has for doubles.

Functions of this package take and give DOUBLE tensors, unless they say otherwise; who calls them casts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import like
from onnxsmith.core.value import Array, TensorValue

PI = float(np.pi)
INFINITY = float("inf")
NAN = float("nan")


def number(value: float) -> np.float64:
    """A number that double precision holds."""
    return np.float64(value)


def horner(coefficients: Sequence[float], t: TensorValue) -> TensorValue:
    """A polynomial of `t`, highest power first, of degree one at least."""
    first, second, *others = coefficients
    result = op.Add(op.Mul(t, number(first)), number(second))
    for each in others:
        result = op.Add(op.Mul(t, result), number(each))
    return result


def on_interval(coefficients: Sequence[float], x: TensorValue, low: float, high: float) -> TensorValue:
    """A polynomial that approximates a function for x between two numbers."""
    scale = 2.0 / (high - low)
    return horner(coefficients, op.Sub(op.Mul(x, number(scale)), number(low * scale + 1.0)))


def where(condition: TensorValue, x: TensorValue | float, y: TensorValue | float) -> TensorValue:
    """One of two, either of which may be a Python number."""
    chosen = [number(each) if isinstance(each, int | float) else each for each in (x, y)]
    return op.Where(condition, *chosen)


def is_negative(x: TensorValue) -> TensorValue:
    """Whether the sign is minus, of a zero too."""
    return op.Or(op.Less(x, zero(x)), op.Less(op.Reciprocal(x), zero(x)))


def zero(x: TensorValue) -> Array:
    """A zero of the element type of a tensor."""
    return like(0, x)


def is_whole(x: TensorValue) -> TensorValue:
    """Whether a number has no fraction."""
    return op.Equal(x, op.Floor(x))


def squared(x: TensorValue) -> TensorValue:
    return op.Mul(x, x)


@algorithm
def log1p(x: TensorValue) -> TensorValue:
    """log(1 + x), of any float type, without losing a small x."""
    one = like(1, x)
    total = op.Add(x, one)
    plain = op.Log(total)
    lost = op.Div(op.Sub(x, op.Sub(total, one)), total)
    return op.Where(op.Less(op.Abs(x), like(0.5, x)), op.Add(plain, lost), plain)


@algorithm
def expm1(x: TensorValue) -> TensorValue:
    """exp(x) - 1, of any float type, without losing a small x."""
    one, half = like(1, x), like(0.5, x)
    t = op.Tanh(op.Mul(x, half))
    close = op.Div(op.Add(t, t), op.Sub(one, t))
    return op.Where(op.Less(op.Abs(x), half), close, op.Sub(op.Exp(x), one))
