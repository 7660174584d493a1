"""Losses between a prediction and a target of one shape and type, for each element; and what becomes of them all.

`class_losses` has those whose target says which class is right.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import mean_of, reduce
from onnxsmith.algorithms.special import logarithms
from onnxsmith.algorithms.values import dtype_of, like, rank_of
from onnxsmith.types.dtypes import DType

#: How the losses of elements become one.
Reduction: TypeAlias = Literal["none", "mean", "sum"]


def reduced(loss: Tensor, reduction: Reduction) -> Tensor:
    """The losses of elements as they are, or their mean or sum."""
    if reduction == "none" or rank_of(loss) == 0:
        return loss
    # The axes are written out: without any, ONNX Runtime takes an empty tensor for one that needs no reduction.
    return mean_of(loss, None, False) if reduction == "mean" else reduce("ReduceSum", loss, None, False)


def squared_error(x: Tensor, target: Tensor) -> Tensor:
    """The square of the difference."""
    difference = x - target
    return difference * difference


def absolute_error(x: Tensor, target: Tensor) -> Tensor:
    """The size of the difference."""
    return abs(x - target)


@algorithm
def smooth_l1(x: Tensor, target: Tensor, beta: float = 1.0) -> Tensor:
    """The size of the difference, rounded off by a parabola up to `beta`."""
    distance = absolute_error(x, target)
    if beta == 0:
        return distance
    square = distance * distance * like(0.5 / beta, x)
    line = distance - like(0.5 * beta, x)
    return op.Where(distance < like(beta, x), square, line)


@algorithm
def huber(x: Tensor, target: Tensor, delta: float = 1.0) -> Tensor:
    """Half the square of the difference, and from `delta` on a line."""
    distance = absolute_error(x, target)
    square = distance * distance * 0.5
    line = (distance - like(0.5 * delta, x)) * like(delta, x)
    return op.Where(distance <= like(delta, x), square, line)


@algorithm
def binary_cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
    """Of probabilities; logarithms end at -100."""
    one, floor = like(1, x), like(-100, x)
    yes = op.Max(op.Log(x), floor)
    no = op.Max(op.Log(op.Sub(one, x)), floor)
    loss = (target - one) * no - target * yes
    return loss if weight is None else loss * weight


@algorithm
def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    positive_weight: Tensor | None = None,
) -> Tensor:
    """Of what a sigmoid makes probabilities of; targets of one may weigh more."""
    one = like(1, x)
    # log(sigmoid(x)) is min(x, 0) - log(1 + exp(-|x|)), which never overflows.
    small = op.Log(op.Exp(-abs(x)) + one)
    log_sigmoid = op.Min(x, 0) - small
    if positive_weight is not None:
        factor = (positive_weight - one) * target + one
        log_sigmoid = factor * log_sigmoid
    loss = op.Sub(one, target) * x - log_sigmoid
    return loss if weight is None else loss * weight


@algorithm
def soft_margin(x: Tensor, target: Tensor) -> Tensor:
    """log(1 + exp(-x target)), for targets of 1 and -1."""
    exponent = -(x * target)
    loss = op.Log(op.Exp(exponent) + 1)
    if dtype_of(x) is DType.FLOAT16:
        # The exponential is infinite beyond the type's range; ONNX Runtime's, computed as float, is not.
        overflows = exponent > like(np.log(65520.0), x)
        loss = op.Where(overflows, np.inf, loss)
    return loss


@algorithm
def divergence(x: Tensor, target: Tensor, *, is_log_target: bool = False) -> Tensor:
    """The terms of Kullback and Leibler's divergence of the target from logarithms of probabilities."""
    if is_log_target:
        return op.Exp(target) * (target - x)
    # Where the target is zero, so is its logarithm times it.
    return logarithms.xlogy(target, target) - target * x


@algorithm
def poisson_likelihood(
    x: Tensor,
    target: Tensor,
    *,
    is_log: bool = True,
    with_factorial: bool = False,
    epsilon: float = 1e-8,
) -> Tensor:
    """Minus the logarithm of the probability of counts, given their expectation, or its logarithm."""
    if is_log:
        loss = op.Exp(x) - target * x
    else:
        loss = x - target * op.Log(x + like(epsilon, x))
    if not with_factorial:
        return loss
    # Stirling's approximation of log(target!), for targets greater than one.
    circle = op.Log(target * like(2 * np.pi, x))
    stirling = target * op.Log(target) - target + circle * 0.5
    return loss + op.Where(target <= 1, like(0, x), stirling)
