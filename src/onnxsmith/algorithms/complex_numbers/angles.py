"""The angle of complex numbers, in single and double precision."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, imaginary
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special import circular
from onnxsmith.algorithms.special.float_parts import chosen, copysign, signbit
from onnxsmith.algorithms.values import like
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType


@algorithm(name="angle")
def angle_of(z: Field) -> TensorValue:
    """The angle of each element, from -pi to pi."""
    return arc(imaginary(z), z.re)


def arc(y: TensorValue, x: TensorValue) -> TensorValue:
    """`atan2`: the arctangent of the smaller part over the larger, turned to the right octant."""
    zero, one = like(0, x), like(1, x)
    across, along = op.Abs(y), op.Abs(x)
    is_steep = op.Greater(across, along)
    smaller, larger = op.Where(is_steep, along, across), op.Where(is_steep, across, along)
    is_one = op.Or(op.Equal(larger, zero), op.And(op.IsInf(smaller), op.IsInf(larger)))
    ratio = op.Where(
        is_one,
        op.Where(op.Equal(larger, zero), zero, one),
        op.Div(smaller, op.Where(op.Equal(larger, zero), one, larger)),
    )
    turn = _arctangent(ratio)
    turn = op.Where(is_steep, op.Sub(like(np.pi / 2, x), turn), turn)
    turn = op.Where(signbit(x), op.Sub(like(np.pi, x), turn), turn)
    turn = copysign(turn, y)
    return chosen(op.Or(op.IsNaN(x), op.IsNaN(y)), like(np.nan, x), turn)


def _arctangent(ratio: TensorValue) -> TensorValue:
    """Of numbers up to one. ONNX Runtime has none in double precision."""
    return circular.atan(ratio) if ratio.dtype is DType.DOUBLE else op.Atan(ratio)
