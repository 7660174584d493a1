"""Numbers as sums of two doubles: what rounding takes from a sum or a product is kept beside it.

The first is the rounded result, the second what is missing from it, exactly.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.special.double import number

#: A number and what is missing from it.
DoubleWord: TypeAlias = tuple[Tensor, Tensor]

#: Divides 53 bits into two halves (Dekker).
_SPLIT = 2.0**27 + 1.0


def sum_of(a: TensorOrArray | np.float64, b: TensorOrArray | np.float64) -> DoubleWord:
    """A sum, whatever the sizes of the two (Knuth)."""
    total = op.Add(a, b)
    part = op.Sub(total, a)
    return total, op.Add(op.Sub(a, op.Sub(total, part)), op.Sub(b, part))


def ordered_sum(a: TensorOrArray, b: TensorOrArray) -> DoubleWord:
    """A sum where the first is not smaller in size, or zero (Dekker)."""
    total = op.Add(a, b)
    return total, op.Sub(b, op.Sub(total, a))


def _halves(a: Tensor) -> DoubleWord:
    scaled = op.Mul(a, number(_SPLIT))
    high = op.Sub(scaled, op.Sub(scaled, a))
    return high, op.Sub(a, high)


def product_of(a: Tensor, b: Tensor) -> DoubleWord:
    """A product, of numbers below 1e290 in size."""
    product = op.Mul(a, b)
    (high, low), (other_high, other_low) = _halves(a), _halves(b)
    error = op.Sub(op.Mul(high, other_high), product)
    error = op.Add(op.Add(error, op.Mul(high, other_low)), op.Mul(low, other_high))
    return product, op.Add(error, op.Mul(low, other_low))
