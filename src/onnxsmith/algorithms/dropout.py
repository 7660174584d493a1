"""Dropout in training: some elements become zero, at random, and the others larger."""

from __future__ import annotations

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import constant, filled, literal, sizes_of
from onnxsmith.types.dtypes import DType


def dropped(x: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """The elements that stay, scaled up, and which they are."""
    if p == 1:
        # ONNX Runtime takes no ratio of one.
        return x * 0, filled(sizes_of(x), False, DType.BOOL)
    ratio, is_training = (
        constant(literal(value, dtype)) for value, dtype in ((p, DType.FLOAT), (True, DType.BOOL))
    )
    result, kept = several(op.Dropout, x, ratio, is_training, outputs=2)
    return result, kept
