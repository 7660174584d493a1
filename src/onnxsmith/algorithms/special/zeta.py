"""Hurwitz's zeta function by Euler and Maclaurin's series, and the polygamma functions, which are made of it."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.double import INFINITY, NAN, PI, is_whole, number, squared, where
from onnxsmith.algorithms.special.gamma import BERNOULLI, FAR, over_last
from onnxsmith.algorithms.values import constant, converted, like
from onnxsmith.types.dtypes import DType


@algorithm
def hurwitz_zeta(s: Tensor, q: Tensor) -> Tensor:
    """The sum of (q + k)^-s over all k; s and q broadcast."""
    minus_s = -s
    # As many terms as bring the most negative q beyond ten; the rest is a series.
    least = op.ReduceMin(op.Concat(op.Reshape(_counted(q), [-1]), np.zeros(1), axis=0), keepdims=0)
    count = FAR - op.Floor(least)
    points = op.Unsqueeze(q, [-1]) + op.Range(number(0.0), count, number(1.0))
    direct = over_last("ReduceSum", op.Pow(points, op.Unsqueeze(minus_s, [-1])))
    w = q + count
    power = op.Pow(w, minus_s)
    tail = w / (s - 1.0) + 0.5
    factor = s / w  # s (s + 1) … (s + 2k - 2) / (2k)! / w^(2k - 1)
    factorial = 2.0
    for k, b in enumerate(BERNOULLI, 1):
        tail = tail + (b / factorial) * factor
        raised = (s + (2 * k - 1)) * (s + (2 * k))
        factor = factor * (raised / squared(w))
        factorial *= (2 * k + 1) * (2 * k + 2)
    value = direct + power * tail
    is_left = q <= 0.0
    value = where(is_left & ~is_whole(s), NAN, value)
    value = where(is_left & is_whole(q), INFINITY, value)
    value = where(s < 1.0, NAN, value)
    return where(op.Equal(s, 1.0), INFINITY, value)


def _counted(q: Tensor) -> Tensor:
    """The value that decides how many terms are needed: no endless sums where there is no value anyway."""
    return where(op.IsNaN(q) | (q < -1e7), 0.0, q)


@algorithm
def trigamma(x: Tensor, precision: DType) -> Tensor:
    """Left of 1/2 by reflection, with pi in the precision of `x`'s own type, which is what its poles show."""
    x = converted(x, precision)
    is_left = x < 0.5
    sine = op.Sin(converted(x * like(PI, x), DType.DOUBLE))
    mirrored = (PI * PI) / squared(sine)
    x = converted(x, DType.DOUBLE)
    value = hurwitz_zeta(constant(number(2.0)), op.Where(is_left, 1.0 - x, x))
    return op.Where(is_left, mirrored - value, value)


@algorithm
def polygamma(n: int, x: Tensor) -> Tensor:
    """The derivative of order n + 1 of the gamma function's logarithm, for n > 1."""
    factorial = float(np.prod(np.arange(1.0, n + 1)))
    sign = 1.0 if n % 2 else -1.0
    return (sign * factorial) * hurwitz_zeta(constant(number(n + 1.0)), x)
