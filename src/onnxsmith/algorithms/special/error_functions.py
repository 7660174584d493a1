"""The error functions, the normal distribution and their inverses, in double precision."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import approximations as near
from onnxsmith.algorithms.special.double import horner, log1p, on_interval, squared


def _erfcx_of_positive(x: Tensor) -> Tensor:
    """exp(x²) erfc(x) for x >= 0."""
    t = 1.0 - 7.5 / (x + 3.75)
    return horner(near.ERFCX, t) / (x + x + 1.0)


@algorithm(has_gradient=True)
def erfcx(x: Tensor) -> Tensor:
    positive = _erfcx_of_positive(abs(x))
    mirrored = 2.0 * op.Exp(squared(x)) - positive
    return op.Where(x < 0.0, mirrored, positive)


@algorithm(has_gradient=True)
def erfc(x: Tensor) -> Tensor:
    positive = op.Exp(-squared(x)) * _erfcx_of_positive(abs(x))
    return op.Where(x < 0.0, 2.0 - positive, positive)


@algorithm(has_gradient=True)
def erf(x: Tensor) -> Tensor:
    close = x * on_interval(near.ERF_NEAR, squared(x), 0.0, 1.0)
    return op.Where(abs(x) < 1.0, close, 1.0 - erfc(x))


@algorithm(has_gradient=True)
def log_of_normal(x: Tensor) -> Tensor:
    """The logarithm of the normal distribution's probability of less than x."""
    t = x * float(np.sqrt(0.5))
    tail = op.Log(0.5 * _erfcx_of_positive(abs(t)))
    below = tail - squared(t)
    above = log1p(-0.5 * erfc(t))
    return op.Where(x < -1.0, below, above)


@algorithm(has_gradient=True)
def normal(x: Tensor) -> Tensor:
    """The normal distribution's probability of less than x."""
    return 0.5 * erfc(x * (-float(np.sqrt(0.5))))


def _inverse_factor(rest: Tensor) -> Tensor:
    """erfinv(x) / x, from 1 - x²."""
    w = -op.Log(rest)
    root = op.Sqrt(w)
    close = on_interval(near.ERFINV_NEAR, w, 0.0, 6.25)
    far = on_interval(near.ERFINV_FAR, root, 2.5, 5.0)
    farthest = root * on_interval(near.ERFINV_FARTHEST, op.Reciprocal(root), 1 / 28, 1 / 5)
    beyond = op.Where(root < 5.0, far, farthest)
    return op.Where(w < 6.25, close, beyond)


@algorithm(has_gradient=True)
def erfinv(x: Tensor) -> Tensor:
    return x * _inverse_factor((1.0 - x) * (1.0 + x))


@algorithm(has_gradient=True)
def normal_quantile(p: Tensor) -> Tensor:
    """Where the normal distribution has a probability of p below."""
    rest = 4.0 * (p * (1.0 - p))
    centred = p + p - 1.0
    return float(np.sqrt(2.0)) * (centred * _inverse_factor(rest))
