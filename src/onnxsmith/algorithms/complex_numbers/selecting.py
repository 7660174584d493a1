"""Elements of one complex tensor or another, with the signs of zeros, which say on which side of a cut they lie."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.field import Field, real
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import constant
from onnxsmith.core.tensor import Tensor


def select(condition: Tensor, x: Field, y: Field) -> Field:
    """Elements of one or the other; zeros stand for a missing imaginary part."""
    re = chosen(condition, x.re, y.re)
    if x.im is None and y.im is None:
        return Field(re)
    zero = constant(real(0, y if x.im is None else x))
    return Field(re, chosen(condition, zero if x.im is None else x.im, zero if y.im is None else y.im))
