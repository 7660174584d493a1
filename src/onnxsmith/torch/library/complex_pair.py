"""A complex tensor while it is translated: its real and imaginary part. ONNX computes with neither as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.torch.library.operators import op


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex tensor as two real ones of the same shape."""

    real: Any
    imag: Any

    @property
    def dtype(self) -> Any:
        """The element type of the parts."""
        return self.real.dtype


def parts_of(value: Any) -> Complex:
    """A value as a pair; a real one has a zero imaginary part."""
    if isinstance(value, Complex):
        return value
    if isinstance(value, complex):
        return Complex(value.real, value.imag)
    if isinstance(value, bool | int | float | Number):
        return Complex(value, 0.0)
    return Complex(value, zeros_like(value))


def zeros_like(value: Any) -> Any:
    """Zeros in a tensor's shape; infinite elements, which times zero are NaN, give zeros too."""
    zero = np.asarray(0, value.dtype.numpy)
    shape = value.type.shape
    if all(isinstance(each, int) for each in shape):
        return op.Expand(current_graph().constant(zero), np.array(shape, np.int64))
    return op.Where(op.Equal(value, value), zero, zero)


def packed(value: Complex) -> Any:
    """The pair as one tensor with a last dimension of 2, as it stands at a model's boundary."""
    return op.Concat(op.Unsqueeze(value.real, [-1]), op.Unsqueeze(value.imag, [-1]), axis=-1)


def unpacked(value: Any) -> Complex:
    """The pair of a tensor whose last dimension is 2."""
    return Complex(op.Gather(value, 0, axis=-1), op.Gather(value, 1, axis=-1))
