"""A complex tensor as its real and imaginary part, and as one tensor at the boundary of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import constant, dimensions_of, dtype_of, like
from onnxsmith.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex tensor as two real ones of the same shape."""

    real: Tensor
    imag: Tensor

    @property
    def dtype(self) -> DType:
        """The element type of the parts."""
        return dtype_of(self.real)


def zeros_like(value: Tensor) -> Tensor:
    """Zeros in a tensor's shape; infinite elements, which times zero are NaN, give zeros too."""
    zero = like(0, value)
    shape = dimensions_of(value)
    if all(isinstance(each, int) for each in shape):
        return op.Expand(constant(zero), np.array(shape, np.int64))
    return op.Where(op.Equal(value, value), zero, zero)


def packed(value: Complex) -> Tensor:
    """The pair as one tensor with a last dimension of 2, as it stands at a model's boundary."""
    return op.Concat(op.Unsqueeze(value.real, [-1]), op.Unsqueeze(value.imag, [-1]), axis=-1)


def unpacked(value: Tensor) -> Complex:
    """The pair of a tensor whose last dimension is 2."""
    return Complex(op.Gather(value, 0, axis=-1), op.Gather(value, 1, axis=-1))
