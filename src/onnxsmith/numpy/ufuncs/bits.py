"""Integers bit by bit; truth values are single bits."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import RealLoop, define
from onnxsmith.types.dtypes import DType


def _bitwise(name: str) -> RealLoop:
    def call(*inputs: TensorValue) -> TensorValue:
        return getattr(op, name if inputs[0].dtype is DType.BOOL else f"Bitwise{name}")(*inputs)

    return call


def _wide(x: TensorValue) -> TensorValue:
    """The bits in uint64, the sign to the left of them repeated."""
    if dtype_of(x).kind == "signed":
        x = converted(x, DType.INT64)
    return converted(x, DType.UINT64)


def _places(x: TensorValue, count: TensorValue) -> tuple[TensorValue, TensorValue]:
    """Whether a number of places is within the width of the integers, and the number, 0 where it is not."""
    is_within = op.Less(count, like(dtype_of(x).bits, count))
    if dtype_of(count).kind == "signed":
        is_within = op.And(is_within, op.GreaterOrEqual(count, like(0, count)))
    return is_within, converted(op.Where(is_within, count, like(0, count)), DType.UINT64)


def _left_shift(x: TensorValue, count: TensorValue) -> TensorValue:
    is_within, places = _places(x, count)
    shifted = converted(op.BitShift(_wide(x), places, direction="LEFT"), dtype_of(x))
    return op.Where(is_within, shifted, like(0, x))


def _right_shift(x: TensorValue, count: TensorValue) -> TensorValue:
    """Signed integers keep their sign: what is shifted are the bits of the number that is not negative."""
    is_within, places = _places(x, count)
    if dtype_of(x).kind == "unsigned":
        shifted = converted(op.BitShift(_wide(x), places, direction="RIGHT"), dtype_of(x))
        return op.Where(is_within, shifted, like(0, x))
    is_negative = op.Less(x, like(0, x))
    size = op.Where(is_negative, op.BitwiseNot(x), x)
    shifted = converted(op.BitShift(_wide(size), places, direction="RIGHT"), dtype_of(x))
    shifted = op.Where(is_within, shifted, like(0, x))
    return op.Where(is_negative, op.BitwiseNot(shifted), shifted)


def _bitwise_count(x: TensorValue) -> TensorValue:
    """How many bits of the absolute value are set: sums of neighbours, then of pairs, then of fours."""
    bits = converted(op.Abs(x), DType.UINT64)
    if dtype_of(x).bits < 64:
        # The absolute value of the lowest integer is negative again.
        bits = op.BitwiseAnd(bits, np.uint64(2 ** dtype_of(x).bits - 1))
    for width, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        moved = op.BitShift(bits, np.uint64(width), direction="RIGHT")
        bits = op.Add(op.BitwiseAnd(bits, np.uint64(mask)), op.BitwiseAnd(moved, np.uint64(mask)))
    total = op.BitShift(op.Mul(bits, np.uint64(0x0101010101010101)), np.uint64(56), direction="RIGHT")
    return converted(total, DType.UINT8)


bitwise_and = define("bitwise_and", _bitwise("And"))
bitwise_or = define("bitwise_or", _bitwise("Or"))
bitwise_xor = define("bitwise_xor", _bitwise("Xor"))
invert = define(("invert", "bitwise_not", "bitwise_invert"), _bitwise("Not"))
left_shift = define(("left_shift", "bitwise_left_shift"), _left_shift)
right_shift = define(("right_shift", "bitwise_right_shift"), _right_shift)
bitwise_count = define("bitwise_count", _bitwise_count)
