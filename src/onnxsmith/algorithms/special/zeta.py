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
    minus_s = op.Neg(s)
    # As many terms as bring the most negative q beyond ten; the rest is a series.
    least = op.ReduceMin(op.Concat(op.Reshape(_counted(q), [-1]), np.zeros(1), axis=0), keepdims=0)
    count = op.Sub(number(FAR), op.Floor(least))
    points = op.Add(op.Unsqueeze(q, [-1]), op.Range(number(0.0), count, number(1.0)))
    direct = over_last("ReduceSum", op.Pow(points, op.Unsqueeze(minus_s, [-1])))
    w = op.Add(q, count)
    power = op.Pow(w, minus_s)
    tail = op.Add(op.Div(w, op.Sub(s, number(1.0))), number(0.5))
    factor = op.Div(s, w)  # s (s + 1) … (s + 2k - 2) / (2k)! / w^(2k - 1)
    factorial = 2.0
    for k, b in enumerate(BERNOULLI, 1):
        tail = op.Add(tail, op.Mul(number(b / factorial), factor))
        raised = op.Mul(op.Add(s, number(2 * k - 1)), op.Add(s, number(2 * k)))
        factor = op.Mul(factor, op.Div(raised, squared(w)))
        factorial *= (2 * k + 1) * (2 * k + 2)
    value = op.Add(direct, op.Mul(power, tail))
    is_left = op.LessOrEqual(q, number(0.0))
    value = where(op.And(is_left, op.Not(is_whole(s))), NAN, value)
    value = where(op.And(is_left, is_whole(q)), INFINITY, value)
    value = where(op.Less(s, number(1.0)), NAN, value)
    return where(op.Equal(s, number(1.0)), INFINITY, value)


def _counted(q: Tensor) -> Tensor:
    """The value that decides how many terms are needed: no endless sums where there is no value anyway."""
    return where(op.Or(op.IsNaN(q), op.Less(q, number(-1e7))), 0.0, q)


@algorithm
def trigamma(x: Tensor, precision: DType) -> Tensor:
    """Left of 1/2 by reflection, with pi in the precision of `x`'s own type, which is what its poles show."""
    x = converted(x, precision)
    is_left = op.Less(x, like(0.5, x))
    sine = op.Sin(converted(op.Mul(x, like(PI, x)), DType.DOUBLE))
    mirrored = op.Div(number(PI * PI), squared(sine))
    x = converted(x, DType.DOUBLE)
    value = hurwitz_zeta(constant(number(2.0)), op.Where(is_left, op.Sub(number(1.0), x), x))
    return op.Where(is_left, op.Sub(mirrored, value), value)


@algorithm
def polygamma(n: int, x: Tensor) -> Tensor:
    """The derivative of order n + 1 of the gamma function's logarithm, for n > 1."""
    factorial = float(np.prod(np.arange(1.0, n + 1)))
    sign = 1.0 if n % 2 else -1.0
    return op.Mul(number(sign * factorial), hurwitz_zeta(constant(number(n + 1.0)), x))
