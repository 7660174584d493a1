"""The error functions, the normal distribution and their inverses, in double precision."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import horner, log1p, number, on_interval, squared


def _erfcx_of_positive(x: Tensor) -> Tensor:
    """exp(x²) erfc(x) for x >= 0."""
    t = op.Sub(number(1.0), op.Div(number(7.5), op.Add(x, number(3.75))))
    return op.Div(horner(near.ERFCX, t), op.Add(op.Add(x, x), number(1.0)))


@algorithm(has_gradient=True)
def erfcx(x: Tensor) -> Tensor:
    positive = _erfcx_of_positive(op.Abs(x))
    mirrored = op.Sub(op.Mul(number(2.0), op.Exp(squared(x))), positive)
    return op.Where(op.Less(x, number(0.0)), mirrored, positive)


@algorithm(has_gradient=True)
def erfc(x: Tensor) -> Tensor:
    positive = op.Mul(op.Exp(op.Neg(squared(x))), _erfcx_of_positive(op.Abs(x)))
    return op.Where(op.Less(x, number(0.0)), op.Sub(number(2.0), positive), positive)


@algorithm(has_gradient=True)
def erf(x: Tensor) -> Tensor:
    close = op.Mul(x, on_interval(near.ERF_NEAR, squared(x), 0.0, 1.0))
    return op.Where(op.Less(op.Abs(x), number(1.0)), close, op.Sub(number(1.0), erfc(x)))


@algorithm(has_gradient=True)
def log_of_normal(x: Tensor) -> Tensor:
    """The logarithm of the normal distribution's probability of less than x."""
    t = op.Mul(x, number(float(np.sqrt(0.5))))
    tail = op.Log(op.Mul(number(0.5), _erfcx_of_positive(op.Abs(t))))
    below = op.Sub(tail, squared(t))
    above = log1p(op.Mul(number(-0.5), erfc(t)))
    return op.Where(op.Less(x, number(-1.0)), below, above)


@algorithm(has_gradient=True)
def normal(x: Tensor) -> Tensor:
    """The normal distribution's probability of less than x."""
    return op.Mul(number(0.5), erfc(op.Mul(x, number(-float(np.sqrt(0.5))))))


def _inverse_factor(rest: Tensor) -> Tensor:
    """erfinv(x) / x, from 1 - x²."""
    w = op.Neg(op.Log(rest))
    root = op.Sqrt(w)
    close = on_interval(near.ERFINV_NEAR, w, 0.0, 6.25)
    far = on_interval(near.ERFINV_FAR, root, 2.5, 5.0)
    farthest = op.Mul(root, on_interval(near.ERFINV_FARTHEST, op.Reciprocal(root), 1 / 28, 1 / 5))
    beyond = op.Where(op.Less(root, number(5.0)), far, farthest)
    return op.Where(op.Less(w, number(6.25)), close, beyond)


@algorithm(has_gradient=True)
def erfinv(x: Tensor) -> Tensor:
    return op.Mul(x, _inverse_factor(op.Mul(op.Sub(number(1.0), x), op.Add(number(1.0), x))))


@algorithm(has_gradient=True)
def normal_quantile(p: Tensor) -> Tensor:
    """Where the normal distribution has a probability of p below."""
    rest = op.Mul(number(4.0), op.Mul(p, op.Sub(number(1.0), p)))
    centred = op.Sub(op.Add(p, p), number(1.0))
    return op.Mul(number(float(np.sqrt(2.0))), op.Mul(centred, _inverse_factor(rest)))
