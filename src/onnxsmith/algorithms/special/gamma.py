"""The gamma function's logarithm and its derivative: by Stirling's series, far enough from zero."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import INFINITY, NAN, PI, horner, is_whole, squared, where
from onnxsmith.algorithms.values import rank_of

#: Bernoulli's numbers B2, B4, …
BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
#: From where on the series are good.
FAR = 10


def _next_ten(x: Tensor) -> Tensor:
    """x, x + 1, … x + 9 along a new last dimension."""
    return op.Unsqueeze(x, [-1]) + np.arange(FAR, dtype=np.float64)


def over_last(name: str, x: Tensor) -> Tensor:
    """A reduction of the last dimension; counted from the front, since ONNX Runtime misses -1 in empty tensors."""
    return getattr(op, name)(x, [rank_of(x) - 1], keepdims=0)


def _shifted(x: Tensor) -> tuple[Tensor, Tensor]:
    """True if x is too small for a series, and x or x + 10."""
    is_small = x < FAR
    return is_small, x + where(is_small, float(FAR), 0.0)


def _from_nearest(x: Tensor) -> Tensor:
    """x less the nearest integer: what sine and tangent of pi x need."""
    return x - op.Round(x)


def lgamma_of_positive(x: Tensor) -> Tensor:
    is_small, y = _shifted(x)
    inverse = op.Reciprocal(y)
    series = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)]
    tail = inverse * horner(series[::-1], squared(inverse))
    logarithm = op.Log(y)
    stirling = (y - 0.5) * (logarithm - 1.0) + tail
    stirling = stirling + (0.5 * float(np.log(2 * PI)) - 0.5)
    product = over_last("ReduceProd", _next_ten(op.Min(x, FAR)))
    return stirling - where(is_small, op.Log(product), 0.0)


@algorithm(has_gradient=True)
def lgamma(x: Tensor) -> Tensor:
    is_left = x < 0.5
    right = lgamma_of_positive(op.Where(is_left, 1.0 - x, x))
    sine = abs(op.Sin(PI * _from_nearest(x)))
    left = float(np.log(PI)) - op.Log(sine) - right
    return where(op.IsInf(x), INFINITY, op.Where(is_left, left, right))


@algorithm
def multivariate_lgamma(x: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of `p` dimensions."""
    points = op.Unsqueeze(x, [-1]) - np.arange(p, dtype=np.float64) / 2
    total = over_last("ReduceSum", lgamma(points))
    return total + (p * (p - 1) / 4 * float(np.log(PI)))


@algorithm(has_gradient=True)
def digamma(x: Tensor) -> Tensor:
    is_left = x < 0.0
    y = op.Where(is_left, 1.0 - x, x)
    is_small, far = _shifted(y)
    inverse = op.Reciprocal(far)
    square = squared(inverse)
    series = [b / (2 * k) for k, b in enumerate(BERNOULLI, 1)]
    tail = square * horner(series[::-1], square)
    value = op.Log(far) - 0.5 * inverse - tail
    steps = over_last("ReduceSum", op.Reciprocal(_next_ten(y)))
    value = value - where(is_small, steps, 0.0)
    angle = PI * _from_nearest(x)
    mirrored = value - PI * op.Cos(angle) / op.Sin(angle)
    value = op.Where(is_left, mirrored, value)
    value = where(is_left & is_whole(x), NAN, value)
    return op.Where(op.Equal(x, 0.0), -op.Reciprocal(x), value)
