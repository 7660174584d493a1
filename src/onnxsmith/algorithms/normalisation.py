"""Normalisation over a layer, a batch or groups of channels; tensors of channels are (batch, channel, …)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import mean_of
from onnxsmith.algorithms.values import (
    Size,
    cast,
    constant,
    converted,
    dtype_of,
    int64s,
    like,
    product,
    rank_of,
    reshape,
    sizes_of,
)
from onnxsmith.types.dtypes import DType


class Normalised(NamedTuple):
    """A result, and the mean, the variance and the inverse deviation that it was normalised by."""

    result: Tensor
    mean: Tensor
    variance: Tensor
    inverse: Tensor


def _spread(x: Tensor, axes: Sequence[int], epsilon: float) -> Normalised:
    """Less its mean over axes, divided by the deviation; in single precision at least, with the axes kept."""
    wide = x if dtype_of(x) is DType.DOUBLE else converted(x, DType.FLOAT)
    mean = op.ReduceMean(wide, np.array(axes), keepdims=1)
    spread = wide - mean
    variance = op.ReduceMean(spread * spread, np.array(axes), keepdims=1)
    inverse = op.Reciprocal(op.Sqrt(variance + like(epsilon, wide)))
    return Normalised(spread * inverse, mean, variance, inverse)


@algorithm
def rms_norm(x: Tensor, dimensions: int, weight: Tensor | None, epsilon: float) -> Tensor:
    """Divided by the root of the mean square over the last dimensions."""
    mean = op.ReduceMean(x * x, np.arange(-dimensions, 0), keepdims=1)
    result = x * op.Reciprocal(op.Sqrt(mean + like(epsilon, x)))
    return result if weight is None else result * weight


@algorithm
def layer_norm(
    x: Tensor, dimensions: int, weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> Normalised:
    """Over the last dimensions, which mean, variance and inverse deviation have with size 1."""
    made = _spread(x, range(-dimensions, 0), epsilon)
    result, dtype = made.result, dtype_of(made.result)
    result = result if weight is None else result * converted(weight, dtype)
    return made._replace(result=result if bias is None else result + converted(bias, dtype))


@algorithm(has_gradient=True)
def batch_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, epsilon: float) -> Normalised:
    """By the batch's own mean and variance for each channel, which come as vectors."""
    made = _spread(x, [0, *range(2, rank_of(x))], epsilon)
    dtype = dtype_of(made.result)
    vectors = [op.Reshape(each, [-1]) for each in made[1:]]
    given = [None if each is None else converted(each, dtype) for each in (weight, bias)]
    if dtype is dtype_of(x) is DType.FLOAT and given[0] is not None and given[1] is not None:
        # One pass over the batch, where the operators by themselves are three. The attribute is of single precision.
        result = op.BatchNormalization(x, given[0], given[1], vectors[0], vectors[1], epsilon=epsilon)
    else:
        result = converted(scaled(made.result, *given), dtype_of(x))
    return Normalised(result, *vectors)


@algorithm(by_size=True)
def running_statistics(
    x: Tensor, mean: Tensor, variance: Tensor, batch: Normalised, momentum: float | Tensor
) -> tuple[Tensor, Tensor]:
    """The running mean and variance after a batch; the variance that goes in is divided by the count less one."""
    dtype = dtype_of(batch.variance)
    whole = product([size for k, size in enumerate(sizes_of(x)) if k != 1])
    count = cast(whole, dtype)
    spread = batch.variance * op.Div(count, op.Sub(count, like(1, batch.variance)))
    return _moved(mean, batch.mean, momentum, whole), _moved(variance, spread, momentum, whole)


@algorithm(by_size=True)
def running_statistics_of_instances(
    x: Tensor, mean: Tensor, variance: Tensor, momentum: float | Tensor
) -> tuple[Tensor, Tensor]:
    """The running mean and variance after a batch whose instances were normalised each by itself."""
    batch = _spread(x, range(2, rank_of(x)), 0.0)
    dtype = dtype_of(batch.variance)
    length = product(sizes_of(x)[2:])
    count = cast(length, dtype)
    axes = [0, *range(2, rank_of(x))]
    spread = mean_of(batch.variance, axes, False) * op.Div(count, op.Sub(count, like(1, batch.variance)))
    now = mean_of(batch.mean, axes, False)
    return _moved(mean, now, momentum, length), _moved(variance, spread, momentum, length)


def _moved(old: Tensor, now: Tensor, momentum: float | Tensor, count: Size) -> Tensor:
    """An old average, moved towards a new value by a part of their difference; a batch of nothing leaves it."""
    if isinstance(count, int) and count == 0:
        return old
    dtype = dtype_of(now)
    part = cast(momentum, dtype)
    left = cast(1 - momentum, dtype) if isinstance(momentum, float) else op.Sub(cast(1, dtype), part)
    moved = converted(converted(old, dtype) * left + now * part, dtype_of(old))
    if isinstance(count, int):
        return moved
    return op.Where(op.Equal(cast(count, DType.INT64), np.int64(0)), old, moved)


@algorithm(by_size=True)
def group_norm(x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, epsilon: float) -> Tensor:
    """Over channels in groups, and all that is behind them."""
    sizes = sizes_of(x)
    flat = reshape(x, [sizes[0], groups, -1])
    ones, zeros = (constant(np.full(groups, each, dtype_of(x).numpy)) for each in (1, 0))
    normal = op.InstanceNormalization(flat, ones, zeros, epsilon=epsilon)
    return scaled(reshape(normal, sizes), weight, bias)


def scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Each channel times its weight, plus its bias."""
    shape = int64s([-1] + [1] * (rank_of(x) - 2))
    if weight is not None:
        x = x * op.Reshape(weight, shape)
    return x if bias is None else x + op.Reshape(bias, shape)
