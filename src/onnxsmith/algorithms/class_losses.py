"""Losses whose target says which class is right, for samples (batch, class, …) or a single one (class)."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.losses import Reduction, reduced
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Numeric,
    cast,
    converted,
    counted,
    dtype_of,
    like,
    product,
    rank_of,
    size_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType


def class_axis(x: Tensor) -> int:
    """The dimension of the classes."""
    return 0 if rank_of(x) == 1 else 1


@algorithm
def likelihood(
    x: Tensor, target: Tensor, weight: Tensor | None = None, ignored: int = -100
) -> tuple[Tensor, Tensor]:
    """For each target: minus the weighted entry of its class, and its weight; both zero where it is ignored."""
    axis = class_axis(x)
    target = converted(target, DType.INT64)
    counts = ~op.Equal(target, ignored)
    safe = op.Where(counts, target, 0)
    picked = op.GatherElements(x, op.Unsqueeze(safe, [axis]), axis=axis)
    loss = -op.Squeeze(picked, [axis])
    zero = like(0, x)
    if weight is None:
        return op.Where(counts, loss, zero), converted(counts, dtype_of(x))
    weights = op.Where(counts, op.Gather(converted(weight, dtype_of(x)), safe, axis=0), zero)
    return op.Where(counts, loss * weights, zero), weights


def settled(loss: Tensor, weights: Tensor, reduction: Reduction) -> Tensor:
    """The loss of all targets; the mean counts each with its weight."""
    if reduction == "none":
        return loss
    total = reduced(loss, "sum")
    return total if reduction == "sum" else total / reduced(weights, "sum")


@algorithm(by_size=True)
def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    ignored: int = -100,
    smoothing: float = 0.0,
) -> Tensor:
    """Of logits; targets are numbers of classes, or probabilities for each. `smoothing` of them go to all classes."""
    axis = class_axis(x)
    logarithms = op.LogSoftmax(x, axis=axis)
    if dtype_of(target).is_float:
        return _against_probabilities(
            logarithms, converted(target, dtype_of(x)), weight, reduction, smoothing
        )
    loss, weights = likelihood(logarithms, target, weight, ignored)
    result = settled(loss, weights, reduction)
    if not smoothing:
        return result
    weighted = logarithms if weight is None else logarithms * _beside(weight, logarithms)
    smooth = -op.ReduceSum(weighted, np.array([axis]), keepdims=0)
    counts = ~op.Equal(converted(target, DType.INT64), np.int64(ignored))
    smooth = op.Where(counts, smooth, like(0, x))
    share = op.Div(like(smoothing, x), cast(size_of(x, axis), dtype_of(x)))
    return result * like(1 - smoothing, x) + settled(smooth, weights, reduction) * share


def _beside(weight: Tensor, x: Tensor) -> Tensor:
    """The weights of classes, shaped to stand beside a tensor."""
    weight = converted(weight, dtype_of(x))
    return weight if rank_of(x) <= 2 else op.Reshape(weight, [-1] + [1] * (rank_of(x) - 2))


def _against_probabilities(
    logarithms: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: Reduction,
    smoothing: float,
) -> Tensor:
    """The target holds a probability for each class."""
    dtype, axis = dtype_of(logarithms), class_axis(logarithms)
    if smoothing:
        share = op.Div(like(smoothing, logarithms), cast(size_of(logarithms, axis), dtype))
        target = target * like(1 - smoothing, logarithms) + share
    products = logarithms * target
    if weight is not None:
        products = products * _beside(weight, products)
    if reduction == "none":
        return -op.ReduceSum(products, np.array([axis]), keepdims=0)
    total = -reduced(products, "sum")
    if reduction == "sum":
        return total
    others = [size for k, size in enumerate(sizes_of(logarithms)) if k != axis]
    return total / cast(product(others), dtype)


# -- margins ---------------------------------------------------------------------------------------------


def _rows(x: Tensor) -> Tensor:
    """(sample, class), whatever the number of dimensions."""
    return x if rank_of(x) == 2 else op.Reshape(x, [1, -1])


def _above_zero(x: Tensor) -> Tensor:
    """Elements greater than zero, and zero elsewhere; zero itself has no gradient, which `Max` would share."""
    return op.Where(x > 0, x, 0)


@algorithm
def multi_margin(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    margin: Numeric = 1.0,
    is_squared: bool = False,
) -> Tensor:
    """For each sample the mean of what other classes come too close to the right one, or of its square."""
    rows = _rows(x)
    targets = op.Reshape(target, [-1, 1])
    picked = op.GatherElements(rows, targets, axis=1)
    loss = _above_zero(op.Sub(cast(margin, dtype_of(x)), picked) + rows)
    if is_squared:
        loss = loss * loss
    if weight is not None:
        loss = loss * op.Gather(weight, targets, axis=0)
    is_target = op.Equal(counted(size_of(rows, 1)), targets)
    # The mean takes in the right class, with a loss of zero.
    return op.ReduceMean(op.Where(is_target, 0, loss), np.array([1]), keepdims=0)


@algorithm
def multilabel_margin(x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Each row of targets lists classes, up to the first negative one: the loss of each, and which classes it has."""
    rows, targets = _rows(x), _rows(target)
    zero = like(0, x)
    is_end = converted(targets < 0, DType.INT64)
    counts = op.Equal(op.CumSum(is_end, np.int64(1)), 0)
    safe = op.Where(counts, targets, np.int64(0))
    classes = size_of(rows, 1)
    # (sample, listed class, class)
    is_it = op.Equal(op.Unsqueeze(safe, [2]), counted(classes)) & op.Unsqueeze(counts, [2])
    is_target = op.ReduceMax(converted(is_it, dtype_of(x)), np.array([1]), keepdims=1)
    picked = op.Unsqueeze(op.GatherElements(rows, safe, axis=1), [2])
    loss = _above_zero(1 - picked + op.Unsqueeze(rows, [1]))
    matters = op.Unsqueeze(counts, [2]) & op.Equal(is_target, zero)
    loss = op.ReduceSum(op.Where(matters, loss, zero), np.array([1, 2]), keepdims=0)
    return loss / cast(classes, dtype_of(x)), op.Squeeze(is_target, [1])
