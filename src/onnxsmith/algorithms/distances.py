"""Distances between rows."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import cast, constant, converted, counted, dtype_of, size_of


def length(difference: Tensor, p: float) -> Tensor:
    """The p-norm of differences along the last dimension."""
    axes = np.array([-1])
    dtype = dtype_of(difference)
    absolute = abs(difference)
    if p == 0:
        is_apart = converted(absolute > 0, dtype)
        return op.ReduceSum(is_apart, axes, keepdims=0)
    if p == 1:
        return op.ReduceSum(absolute, axes, keepdims=0)
    if np.isinf(p):
        return op.ReduceMax(absolute, axes, keepdims=0)
    if p == 2:
        return op.ReduceL2(difference, axes, keepdims=0)  # whose gradient is 0 where a distance is
    total = op.ReduceSum(op.Pow(absolute, cast(p, dtype)), axes, keepdims=0)
    return op.Pow(total, cast(1 / p, dtype))


@algorithm
def between(x: Tensor, y: Tensor, p: float = 2.0) -> Tensor:
    """Between each row of one and each of the other; rows have elements."""
    return length(op.Unsqueeze(x, [-2]) - op.Unsqueeze(y, [-3]), p)


@algorithm
def among(x: Tensor, p: float = 2.0) -> Tensor:
    """Between each row of a matrix and those behind it, in order; rows have elements."""
    count = size_of(x, 0)
    if isinstance(count, int):
        first, second = (constant(each) for each in np.triu_indices(count, 1))
    else:
        numbers = counted(count)
        pairs = op.NonZero(op.Unsqueeze(numbers, [1]) < op.Unsqueeze(numbers, [0]))
        first, second = op.Gather(pairs, np.int64(0), axis=0), op.Gather(pairs, np.int64(1), axis=0)
    return length(op.Gather(x, first, axis=0) - op.Gather(x, second, axis=0), p)
