"""Points of the plane: their angles and their distances from the origin. Operands are of one element type."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import circular
from onnxsmith.algorithms.special.float_parts import copysign, signbit
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.types.dtypes import DType


@algorithm(has_gradient=True)
def atan2(y: Tensor, x: Tensor) -> Tensor:
    """The angle of the point (x, y), by the signs of both, of zeros too; in single or double precision."""
    dtype = dtype_of(y)
    height = abs(y)
    are_infinite = op.IsInf(y) & op.IsInf(x)
    are_zero = op.Equal(y, 0) & op.Equal(x, 0)
    slope = op.Where(are_infinite, like(1, y), height) / op.Where(are_infinite, op.Sign(x), x)
    slope = op.Where(are_zero, like(0, y), slope)
    angle = circular.atan(slope) if dtype is DType.DOUBLE else op.Atan(slope)
    # On the left the angle of the upper half is up to a quarter below zero so far.
    return copysign(op.Where(signbit(x), angle + np.pi, angle), y)


@algorithm(has_gradient=True)
def hypot(x: Tensor, y: Tensor) -> Tensor:
    """The length of (x, y), without an overflow on the way: in double precision, or scaled by the larger."""
    dtype = dtype_of(x)
    x, y = abs(converted(x, DType.DOUBLE)), abs(converted(y, DType.DOUBLE))
    if dtype is not DType.DOUBLE:
        length = op.Sqrt(x * x + y * y)
    else:
        largest = op.Max(x, y)
        ratio = op.Min(x, y) / op.Where(op.Equal(largest, np.float64(0)), np.float64(1), largest)
        length = largest * op.Sqrt(ratio * ratio + 1)
    # Infinite is the distance to infinity, even if the other coordinate is no number.
    return converted(op.Where(op.IsInf(x) | op.IsInf(y), np.float64(np.inf), length), dtype)
