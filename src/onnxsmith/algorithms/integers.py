"""Whole numbers: bits, shifts, quotients and remainders, common divisors, powers.

Two operands are of one element type, which is that of the result, and broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.loops import repeat
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import (
    axes_of,
    cast,
    converted,
    dtype_of,
    flat,
    has_zero,
    like,
    rank_of,
    sizes_of,
)
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType

UNSIGNED = frozenset({DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64})


def is_unsigned(x: TensorValue) -> bool:
    """Whether the element type has no sign."""
    return dtype_of(x) in UNSIGNED


# -- bits ----------------------------------------------------------------------------------------------


def bitwise_and(x: TensorValue, y: TensorValue) -> TensorValue:
    """The bits that both have; of truth values, whether both are true."""
    return op.And(x, y) if dtype_of(x) is DType.BOOL else op.BitwiseAnd(x, y)


def bitwise_or(x: TensorValue, y: TensorValue) -> TensorValue:
    """The bits that one has; of truth values, whether one is true."""
    return op.Or(x, y) if dtype_of(x) is DType.BOOL else op.BitwiseOr(x, y)


def bitwise_xor(x: TensorValue, y: TensorValue) -> TensorValue:
    """The bits that only one has; of truth values, whether only one is true."""
    return op.Xor(x, y) if dtype_of(x) is DType.BOOL else op.BitwiseXor(x, y)


def bitwise_not(x: TensorValue) -> TensorValue:
    """The bits turned over; of truth values, the other one."""
    return op.Not(x) if dtype_of(x) is DType.BOOL else op.BitwiseNot(x)


def _distance(y: TensorValue, dtype: DType) -> tuple[TensorValue, TensorValue]:
    """By how many bits to shift, and whether there are that many."""
    y = converted(y, DType.INT64)
    bits = np.dtype(dtype.numpy).itemsize * 8
    fits = op.And(op.GreaterOrEqual(y, np.int64(0)), op.Less(y, np.int64(bits)))
    return converted(op.Where(fits, y, np.int64(bits - 1)), DType.UINT64), fits


@algorithm
def shift_left(x: TensorValue, y: TensorValue) -> TensorValue:
    """With zeros shifted in; a distance beyond the last bit, or below zero, leaves nothing."""
    dtype = dtype_of(x)
    distance, fits = _distance(y, dtype)
    bits = x if dtype in UNSIGNED else converted(x, DType.INT64)
    shifted = op.BitShift(converted(bits, DType.UINT64), distance, direction="LEFT")
    return op.Where(fits, converted(shifted, dtype), cast(0, dtype))


@algorithm
def shift_right(x: TensorValue, y: TensorValue) -> TensorValue:
    """With the sign shifted in; a distance beyond the last bit, or below zero, leaves the sign only."""
    dtype = dtype_of(x)
    distance, fits = _distance(y, dtype)
    if dtype in UNSIGNED:
        shifted = op.BitShift(converted(x, DType.UINT64), distance, direction="RIGHT")
        return op.Where(fits, converted(shifted, dtype), cast(0, dtype))
    x = converted(x, DType.INT64)
    is_negative = op.Less(x, np.int64(0))
    # The bits of a negative number are those of what lies below zero, turned over.
    size = op.Where(is_negative, op.BitwiseNot(x), x)
    shifted = converted(op.BitShift(converted(size, DType.UINT64), distance, direction="RIGHT"), DType.INT64)
    return converted(op.Where(is_negative, op.BitwiseNot(shifted), shifted), dtype)


# -- quotients -----------------------------------------------------------------------------------------


@algorithm
def floor_divide(x: TensorValue, y: TensorValue) -> TensorValue:
    """Divided and rounded down; ONNX's `Div` rounds towards zero, and is one too high below it."""
    quotient = op.Div(x, y)
    if is_unsigned(quotient):
        return quotient
    return op.Sub(quotient, converted(_is_inexact_below(x, y), dtype_of(quotient)))


@algorithm
def truncated_remainder(x: TensorValue, y: TensorValue) -> TensorValue:
    """What is left of `x`, with its sign, when it is divided and rounded towards zero.

    ONNX Runtime's `fmod` goes through doubles, which have fewer digits than longs.
    """
    rest = op.Mod(x, y)
    if is_unsigned(rest):
        return rest
    return op.Sub(rest, op.Mul(y, converted(_is_inexact_below(x, y), dtype_of(rest))))


def _is_inexact_below(x: TensorValue, y: TensorValue) -> TensorValue:
    """Where the quotient of integers has a fraction and is negative."""
    rest = op.Mod(x, y)
    zero = like(0, rest)
    return op.And(op.Not(op.Equal(rest, zero)), op.Xor(op.Less(x, zero), op.Less(y, zero)))


# -- divisors ------------------------------------------------------------------------------------------


@algorithm
def gcd(x: TensorValue, y: TensorValue) -> TensorValue:
    """The greatest common divisor, by Euclid's algorithm on all elements at once, until the last is done."""
    if has_zero(sizes_of(x)) or has_zero(sizes_of(y)):
        return op.Add(x, y)
    x, y = op.Abs(x), op.Abs(y)
    shape = op.Shape(op.Add(x, y))
    zero, one = like(0, x), like(1, x)

    def body(i: TensorValue, keep: TensorValue, a: TensorValue, b: TensorValue) -> tuple[TensorValue, ...]:
        is_done = op.Equal(a, zero)
        rest = op.Mod(b, op.Where(is_done, one, a))
        a, b = op.Where(is_done, a, rest), op.Where(is_done, b, a)
        return _has_any(a), a, b

    x = op.Expand(x, shape)
    return repeat(_has_any(x), [x, op.Expand(y, shape)], body)[1]


def _has_any(x: TensorValue) -> TensorValue:
    """Whether an element is not zero; False of nothing."""
    elements = converted(flat(x), DType.INT64)
    # Not a sum, which could be zero for elements that are not.
    sizes = op.Abs(op.Concat(elements, np.zeros(1, np.int64), axis=0))
    return converted(op.ReduceMax(sizes, [0], keepdims=0), DType.BOOL)


@algorithm
def lcm(x: TensorValue, y: TensorValue) -> TensorValue:
    """The least common multiple; 0 where one of both is."""
    divisor = gcd(x, y)
    is_zero = op.Equal(divisor, like(0, x))
    return op.Abs(op.Mul(op.Div(x, op.Where(is_zero, like(1, x), divisor)), y))


# -- powers --------------------------------------------------------------------------------------------


@algorithm
def power(x: TensorValue, y: TensorValue) -> TensorValue:
    """Integers to the power of integers by squaring, which wraps around; `Pow` goes through doubles."""
    dtype = dtype_of(x)
    if has_zero(sizes_of(x)) or has_zero(sizes_of(y)):
        return op.Add(x, y)
    zero, one, two = (cast(each, dtype) for each in (0, 1, 2))
    shape = op.Shape(op.Add(x, y))
    bases, exponents = op.Expand(x, shape), op.Expand(op.Max(y, zero), shape)

    def body(
        i: TensorValue, keep: TensorValue, base: TensorValue, exponent: TensorValue, result: TensorValue
    ) -> tuple[TensorValue, ...]:
        is_odd = op.Equal(op.Mod(exponent, two), one)
        result = op.Where(is_odd, op.Mul(result, base), result)
        exponent = op.Div(exponent, two)
        return _has_any(exponent), op.Mul(base, base), exponent, result

    start = op.Expand(one, shape)
    result = repeat(_has_any(exponents), [bases, exponents, start], body)[2]
    if dtype in UNSIGNED:
        return result
    # A fraction of one is cut to zero; only one and its negative have whole inverses.
    sign = op.Where(op.Equal(op.Mod(y, two), zero), one, cast(-1, dtype))
    inverse = op.Where(op.Equal(x, cast(-1, dtype)), sign, converted(op.Equal(x, one), dtype))
    return op.Where(op.Less(y, zero), inverse, result)


@algorithm
def whole_power(x: TensorValue, exponent: int) -> TensorValue:
    """A power that is known and at least one, by multiplication, which wraps around; `Pow` goes through doubles."""
    result: TensorValue | None = None
    while True:
        if exponent & 1:
            result = x if result is None else op.Mul(result, x)
        exponent >>= 1
        if not exponent:
            assert result is not None  # the first bit of a positive exponent is set
            return result
        x = op.Mul(x, x)


# -- hashes --------------------------------------------------------------------------------------------


@algorithm
def reduced_by_xor(bits: TensorValue, dims: int | Sequence[int] | None, keepdim: bool) -> TensorValue:
    """All UINT64 elements along dimensions combined by an exclusive or."""
    rank = rank_of(bits)
    if rank == 0:
        return bits
    order = np.arange(64, dtype=np.uint64)
    single = op.BitShift(op.Unsqueeze(bits, [rank]), order, direction="RIGHT")
    single = converted(op.BitwiseAnd(single, np.uint64(1)), DType.INT64)
    # A bit of the result is set where an odd number of elements has it.
    total = op.ReduceSum(single, axes_of(dims, rank), keepdims=int(keepdim))
    # In two halves, each of which a long holds without its sign.
    valued = op.Mul(op.Mod(total, np.int64(2)), np.tile(2 ** np.arange(32), 2))
    last = rank_of(valued) - 1
    low, high = (
        converted(op.ReduceSum(op.Slice(valued, [k], [k + 32], [last]), [last], keepdims=0), DType.UINT64)
        for k in (0, 32)
    )
    return op.BitwiseOr(op.BitShift(high, np.uint64(32), direction="LEFT"), low)
