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
    difference = op.Sub(x, target)
    return op.Mul(difference, difference)


def absolute_error(x: Tensor, target: Tensor) -> Tensor:
    """The size of the difference."""
    return op.Abs(op.Sub(x, target))


@algorithm
def smooth_l1(x: Tensor, target: Tensor, beta: float = 1.0) -> Tensor:
    """The size of the difference, rounded off by a parabola up to `beta`."""
    distance = absolute_error(x, target)
    if beta == 0:
        return distance
    square = op.Mul(op.Mul(distance, distance), like(0.5 / beta, x))
    line = op.Sub(distance, like(0.5 * beta, x))
    return op.Where(op.Less(distance, like(beta, x)), square, line)


@algorithm
def huber(x: Tensor, target: Tensor, delta: float = 1.0) -> Tensor:
    """Half the square of the difference, and from `delta` on a line."""
    distance = absolute_error(x, target)
    square = op.Mul(op.Mul(distance, distance), like(0.5, x))
    line = op.Mul(op.Sub(distance, like(0.5 * delta, x)), like(delta, x))
    return op.Where(op.LessOrEqual(distance, like(delta, x)), square, line)


@algorithm
def binary_cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
    """Of probabilities; logarithms end at -100."""
    one, floor = like(1, x), like(-100, x)
    yes = op.Max(op.Log(x), floor)
    no = op.Max(op.Log(op.Sub(one, x)), floor)
    loss = op.Sub(op.Mul(op.Sub(target, one), no), op.Mul(target, yes))
    return loss if weight is None else op.Mul(loss, weight)


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
    small = op.Log(op.Add(op.Exp(op.Neg(op.Abs(x))), one))
    log_sigmoid = op.Sub(op.Min(x, like(0, x)), small)
    if positive_weight is not None:
        factor = op.Add(op.Mul(op.Sub(positive_weight, one), target), one)
        log_sigmoid = op.Mul(factor, log_sigmoid)
    loss = op.Sub(op.Mul(op.Sub(one, target), x), log_sigmoid)
    return loss if weight is None else op.Mul(loss, weight)


@algorithm
def soft_margin(x: Tensor, target: Tensor) -> Tensor:
    """log(1 + exp(-x target)), for targets of 1 and -1."""
    exponent = op.Neg(op.Mul(x, target))
    loss = op.Log(op.Add(op.Exp(exponent), like(1, x)))
    if dtype_of(x) is DType.FLOAT16:
        # The exponential is infinite beyond the type's range; ONNX Runtime's, computed as float, is not.
        overflows = op.Greater(exponent, like(np.log(65520.0), x))
        loss = op.Where(overflows, like(np.inf, x), loss)
    return loss


@algorithm
def divergence(x: Tensor, target: Tensor, *, is_log_target: bool = False) -> Tensor:
    """The terms of Kullback and Leibler's divergence of the target from logarithms of probabilities."""
    if is_log_target:
        return op.Mul(op.Exp(target), op.Sub(target, x))
    # Where the target is zero, so is its logarithm times it.
    return op.Sub(logarithms.xlogy(target, target), op.Mul(target, x))


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
        loss = op.Sub(op.Exp(x), op.Mul(target, x))
    else:
        loss = op.Sub(x, op.Mul(target, op.Log(op.Add(x, like(epsilon, x)))))
    if not with_factorial:
        return loss
    # Stirling's approximation of log(target!), for targets greater than one.
    circle = op.Log(op.Mul(target, like(2 * np.pi, x)))
    stirling = op.Add(op.Sub(op.Mul(target, op.Log(target)), target), op.Mul(circle, like(0.5, x)))
    return op.Add(loss, op.Where(op.LessOrEqual(target, like(1, x)), like(0, x), stirling))
