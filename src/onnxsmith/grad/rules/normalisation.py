"""Normalisation over batches, images, channels and axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array, Value
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step, dtype_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.windows import sum_of
from onnxsmith.types.dtypes import DType


def _by_channel(vector: Tensor, rank: int) -> Tensor:
    """A vector of channels, to broadcast with images."""
    return op.Reshape(vector, [-1, *[1] * (rank - 2)]) if rank > 2 else vector


def _over_images(x: Tensor, rank: int) -> Tensor:
    """The sum for each channel."""
    return op.ReduceSum(x, np.array([0, *range(2, rank)]), keepdims=0)


def normalised(x: Tensor, g: Tensor, axes: Array, epsilon: float) -> tuple[Tensor, Tensor]:
    """A tensor less its mean and over its deviation along axes; and its cotangent, for one of the result."""
    centred = x - op.ReduceMean(x, axes, keepdims=1)
    scale = op.Reciprocal(op.Sqrt(op.ReduceMean(centred * centred, axes, keepdims=1) + epsilon))
    y = centred * scale
    means = op.ReduceMean(g, axes, keepdims=1), op.ReduceMean(g * y, axes, keepdims=1)
    return y, (g - means[0] - y * means[1]) * scale


@rule("BatchNormalization")
def over_batch(step: Step, g: Tensor | None, *running: Tensor | None) -> Cotangents:
    if step.integer("training_mode"):
        return _in_training(step, g, running)
    assert g is not None  # there is no other output
    x, scale, mean, variance = step.input(0), step.input(1), step.input(3), step.input(4)
    rank = step.rank()
    inverse = op.Reciprocal(op.Sqrt(variance + step.number("epsilon")))
    factor = scale * inverse

    def of_scale() -> Tensor:
        return _over_images(g * (x - _by_channel(mean, rank)), rank) * inverse

    return (
        lambda: g * _by_channel(factor, rank),
        of_scale,
        lambda: _over_images(g, rank),
        lambda: -(_over_images(g, rank) * factor),
        lambda: of_scale() * factor * inverse * -0.5,
    )


def _in_training(step: Step, g: Tensor | None, running: tuple[Tensor | None, ...]) -> Cotangents:
    x, scale = step.input(0), step.input(1)
    rank, momentum = step.rank(), step.number("momentum")
    axes = np.array([0, *range(2, rank)])
    g = filled_like(step.output(), 0.0) if g is None else g
    y, inner = normalised(x, g * _by_channel(scale, rank), axes, step.number("epsilon"))
    of_mean, of_variance = (*running, None, None)[:2]

    def of_input() -> Tensor:
        parts = [inner]
        centred = x - op.ReduceMean(x, axes, keepdims=1)
        count = op.Cast(op.Size(x), to=x.dtype) / op.Cast(op.Size(scale), to=x.dtype)
        rest = (1.0 - momentum) / count
        if of_mean is not None:
            parts.append(_by_channel(of_mean * rest, rank) + op.Mul(centred, 0.0))
        if of_variance is not None:
            parts.append(centred * _by_channel(of_variance * (rest * 2.0), rank))
        return sum_of(parts)

    return (
        of_input,
        lambda: _over_images(g * y, rank),
        lambda: _over_images(g, rank),
        None if of_mean is None else of_mean * momentum,
        None if of_variance is None else of_variance * momentum,
    )


def _is_single_or_double(
    inputs: Sequence[Value | None], attributes: Mapping[str, object], outputs: int
) -> bool:
    """True if a batch is normalised in its own element type, with weight and bias."""
    return len(inputs) == 3 and all(
        each is not None and dtype_of(each) in (DType.FLOAT, DType.DOUBLE) for each in inputs
    )


@rule("batch_norm", domain=ALGORITHMS, only=_is_single_or_double)
def by_batch(step: Step, g: Tensor | None, *of_statistics: Tensor | None) -> Cotangents:
    """In few passes over the batch: two sums, one product, and a normalisation by other numbers for each channel."""
    x, weight = step.input(0), step.input(1)
    rank, inverse = step.rank(), step.output(3)
    axes = np.array([0, *range(2, rank)])
    mean = op.ReduceMean(x, axes, keepdims=1)  # as the function makes it, so that one of the two is left
    centred = x - mean
    count = op.Cast(op.Size(x), to=x.dtype) / op.Cast(op.Size(weight), to=x.dtype)
    shift = scale = total = along = None
    if g is not None:
        total, along = _over_images(g, rank), _over_images(g * centred, rank)
        shift = -(weight * inverse * total / count)
        scale = -(weight * inverse * inverse * inverse * along / count)
    of_mean, of_variance, of_inverse = (*of_statistics, None, None, None)[:3]
    if of_mean is not None:
        shift = _sum(shift, of_mean / count)
    if of_variance is not None:
        scale = _sum(scale, of_variance * 2.0 / count)
    if of_inverse is not None:
        scale = _sum(scale, -(of_inverse * inverse * inverse * inverse / count))

    def of_input() -> Tensor:
        parts = [] if g is None else [g * _by_channel(weight * inverse, rank)]
        if scale is not None and shift is not None:
            one = filled_like(inverse, 1.0)
            parts.append(op.BatchNormalization(x, scale, shift, op.Reshape(mean, [-1]), one, epsilon=0.0))
        elif scale is not None:
            parts.append(centred * _by_channel(scale, rank))
        elif shift is not None:
            parts.append(op.Expand(_by_channel(shift, rank), op.Shape(x)))
        return sum_of(parts)

    return of_input, None if along is None else along * inverse, total


def _sum(one: Tensor | None, two: Tensor) -> Tensor:
    return two if one is None else one + two


@rule("InstanceNormalization")
def over_image(step: Step, g: Tensor) -> Cotangents:
    x, scale = step.input(0), step.input(1)
    rank = step.rank()
    y, inner = normalised(x, g * _by_channel(scale, rank), np.arange(2, rank), step.number("epsilon"))
    return inner, lambda: _over_images(g * y, rank), lambda: _over_images(g, rank)


@rule("LayerNormalization", broadcasts=True)
def over_axes(step: Step, g: Tensor | None, *rest: Tensor | None) -> Cotangents:
    x, scale = step.input(0), step.input(1)
    rank = step.rank()
    first = step.integer("axis", -1) % rank
    axes = np.arange(first, rank)
    y, inner = normalised(
        x, filled_like(x, 0.0) if g is None else g * scale, axes, step.number("epsilon", 1e-5)
    )
    of_mean, of_deviation = (*rest, None, None)[:2]

    def of_input() -> Tensor:
        parts = [inner]
        count = op.Cast(op.ReduceProd(op.Shape(x, start=first), keepdims=0), to=x.dtype)
        if of_mean is not None:
            parts.append(op.Expand(of_mean / count, op.Shape(x)))
        if of_deviation is not None:  # of the reciprocal of the deviation
            inverse = step.output(2)
            parts.append(-(of_deviation * inverse * inverse * y / count))
        return sum_of(parts)

    def of_scale() -> Tensor | None:
        return None if g is None else g * y

    return of_input, of_scale, g


@rule("RMSNormalization", broadcasts=True)
def over_square(step: Step, g: Tensor) -> Cotangents:
    x, scale = step.input(0), step.input(1)
    rank = step.rank()
    axes = np.arange(step.integer("axis", -1) % rank, rank)
    inverse = op.Reciprocal(op.Sqrt(op.ReduceMean(x * x, axes, keepdims=1) + step.number("epsilon", 1e-5)))
    y, scaled = x * inverse, g * scale
    return (
        lambda: (scaled - y * op.ReduceMean(scaled * y, axes, keepdims=1)) * inverse,
        lambda: g * y,
    )


@rule("LpNormalization")
def by_norm(step: Step, g: Tensor) -> Cotangents:
    x, y = step.input(), step.output()
    axis = np.array([step.integer("axis", -1)])
    reduce = op.ReduceL1 if step.integer("p", 2) == 1 else op.ReduceL2
    norm = reduce(x, axis, keepdims=1)
    is_zero = op.Equal(norm, 0.0)
    slope = op.Sign(x) if step.integer("p", 2) == 1 else y
    made = g - slope * op.ReduceSum(g * y, axis, keepdims=1)
    return (op.Where(is_zero, 0.0, made / op.Where(is_zero, 1.0, norm)),)


@rule("LRN")
def over_channels(step: Step, g: Tensor) -> Cotangents:
    x, size = step.input(), step.integer("size")
    alpha, beta, bias = step.number("alpha"), step.number("beta"), step.number("bias")
    rank = step.rank()
    lower, upper = (size - 1) // 2, size // 2
    spread = _sum_of_neighbours(x * x, lower, upper, rank) * (alpha / size) + bias
    inner = _sum_of_neighbours(g * x * op.Pow(spread, -beta - 1.0), upper, lower, rank)
    return (g * op.Pow(spread, -beta) - x * inner * (2.0 * alpha * beta / size),)


def _sum_of_neighbours(x: Tensor, lower: int, upper: int, rank: int) -> Tensor:
    """Each channel with those around it."""
    pads = np.zeros(2 * rank, np.int64)
    pads[1], pads[rank + 1] = lower, upper
    padded = op.Pad(x, pads)
    count = lower + upper
    parts = [
        op.Slice(padded, [k], [k - count] if k < count else [np.iinfo(np.int64).max], [1])
        for k in range(count + 1)
    ]
    return sum_of(parts)
