"""Whole numbers: bits, shifts, common divisors, powers. `division` has their quotients.

Two operands are of one element type, which is that of the result, and broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.loops import loop
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    axes_of,
    cast,
    converted,
    dtype_of,
    like,
    rank_of,
)
from onnxsmith.types.dtypes import DType

UNSIGNED = frozenset({DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64})


def is_unsigned(x: Tensor) -> bool:
    """True if the element type has no sign."""
    return dtype_of(x) in UNSIGNED


# -- bits ----------------------------------------------------------------------------------------------


def bitwise_and(x: Tensor, y: Tensor) -> Tensor:
    """The bits that both have; of truth values, whether both are true."""
    return x & y if dtype_of(x) is DType.BOOL else op.BitwiseAnd(x, y)


def bitwise_or(x: Tensor, y: Tensor) -> Tensor:
    """The bits that one has; of truth values, whether one is true."""
    return x | y if dtype_of(x) is DType.BOOL else op.BitwiseOr(x, y)


def bitwise_xor(x: Tensor, y: Tensor) -> Tensor:
    """The bits that only one has; of truth values, whether only one is true."""
    return x ^ y if dtype_of(x) is DType.BOOL else op.BitwiseXor(x, y)


def bitwise_not(x: Tensor) -> Tensor:
    """The bits turned over; of truth values, the other one."""
    return ~x if dtype_of(x) is DType.BOOL else op.BitwiseNot(x)


def _distance(y: Tensor, dtype: DType) -> tuple[Tensor, Tensor]:
    """By how many bits to shift, and whether there are that many."""
    y = converted(y, DType.INT64)
    bits = np.dtype(dtype.numpy).itemsize * 8
    fits = (y >= 0) & (y < bits)
    return converted(op.Where(fits, y, (bits - 1)), DType.UINT64), fits


@algorithm
def shift_left(x: Tensor, y: Tensor) -> Tensor:
    """With zeros shifted in; a distance beyond the last bit, or below zero, leaves nothing."""
    dtype = dtype_of(x)
    distance, fits = _distance(y, dtype)
    bits = x if dtype in UNSIGNED else converted(x, DType.INT64)
    shifted = op.BitShift(converted(bits, DType.UINT64), distance, direction="LEFT")
    return op.Where(fits, converted(shifted, dtype), cast(0, dtype))


@algorithm
def shift_right(x: Tensor, y: Tensor) -> Tensor:
    """With the sign shifted in; a distance beyond the last bit, or below zero, leaves the sign only."""
    dtype = dtype_of(x)
    distance, fits = _distance(y, dtype)
    if dtype in UNSIGNED:
        shifted = op.BitShift(converted(x, DType.UINT64), distance, direction="RIGHT")
        return op.Where(fits, converted(shifted, dtype), cast(0, dtype))
    x = converted(x, DType.INT64)
    is_negative = x < 0
    # The bits of a negative number are those of what lies below zero, turned over.
    size = op.Where(is_negative, op.BitwiseNot(x), x)
    shifted = converted(op.BitShift(converted(size, DType.UINT64), distance, direction="RIGHT"), DType.INT64)
    return converted(op.Where(is_negative, op.BitwiseNot(shifted), shifted), dtype)


@algorithm
def bit_count(x: Tensor) -> Tensor:
    """How many bits of the absolute value are set: sums of neighbours, then of pairs, then of fours."""
    bits = _size(x)
    for width, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        moved = op.BitShift(bits, np.uint64(width), direction="RIGHT")
        bits = op.BitwiseAnd(bits, np.uint64(mask)) + op.BitwiseAnd(moved, np.uint64(mask))
    total = op.BitShift(bits * np.uint64(0x0101010101010101), np.uint64(56), direction="RIGHT")
    return converted(total, DType.UINT8)


# -- divisors ------------------------------------------------------------------------------------------

#: Euclid's algorithm takes no more steps on 64-bit integers: such are two Fibonacci numbers.
_STEPS = 96


def _size(x: Tensor) -> Tensor:
    """The absolute value in UINT64, which holds that of the lowest integer, too."""
    if not is_unsigned(x):
        x = abs(converted(x, DType.INT64))
    return converted(x, DType.UINT64)


def _sizes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The absolute values in the shape that both have."""
    x, y = _size(x), _size(y)
    nothing = x + y - (x + y)
    return x + nothing, y + nothing


def _divisor(x: Tensor, y: Tensor) -> Tensor:
    """The greatest common divisor in UINT64, by Euclid's algorithm on all elements at once, until the last is done."""
    zero = np.uint64(0)

    def step(i: Tensor, go_on: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        is_over = op.Equal(y, zero)
        rest = op.Mod(x, op.Where(is_over, np.uint64(1), y))
        return has_any(~op.Equal(rest, zero)), op.Where(is_over, x, y), rest

    last, left = loop(np.int64(_STEPS), [x, y], step)
    return op.Where(op.Equal(left, zero), last, left)


def has_any(truth: Tensor) -> Tensor:
    """True if one of all truth values is true; False of none."""
    most = op.ReduceMax(converted(truth, DType.INT32), keepdims=0)
    return most > np.int32(0)  # the largest of nothing is the lowest integer


@algorithm
def gcd(x: Tensor, y: Tensor) -> Tensor:
    """The greatest common divisor."""
    return converted(_divisor(*_sizes(x, y)), dtype_of(x))


@algorithm
def lcm(x: Tensor, y: Tensor) -> Tensor:
    """The least common multiple; 0 where one of both is. What is too large wraps around."""
    a, b = _sizes(x, y)
    divisor = _divisor(a, b)
    share = op.Div(a, op.Where(op.Equal(divisor, np.uint64(0)), np.uint64(1), divisor))
    return converted(share * b, dtype_of(x))


# -- powers --------------------------------------------------------------------------------------------


@algorithm
def power(x: Tensor, y: Tensor) -> Tensor:
    """Integers to the power of integers by squaring, which wraps around; `Pow` goes through doubles.

    A power below zero is a fraction, and cut: only one and its negative have whole inverses.
    """
    dtype = dtype_of(x)
    wide = DType.UINT64 if dtype is DType.UINT64 else DType.INT64
    base, rest = converted(x, wide), converted(y, wide)
    zero, one, two = (like(each, base) for each in (0, 1, 2))
    ones = op.Where(op.Equal(base + rest, zero), one, one)

    def step(i: Tensor, go_on: Tensor, result: Tensor, base: Tensor, rest: Tensor) -> tuple[Tensor, ...]:
        half = op.Div(rest, two)
        is_odd = rest - half * two > zero
        result = op.Where(is_odd, result * base, result)
        return has_any(half > zero), result, base * base, half

    result = loop(np.int64(64), [ones, ones * base, ones * rest], step)[0]
    if not is_unsigned(x):
        is_unit = op.Equal(base, one) | op.Equal(base, -1)
        is_odd = ~op.Equal(op.Div(rest, two) * two, rest)
        inverse = op.Where(is_unit, op.Where(is_odd, base, one), zero)
        result = op.Where(rest < zero, inverse, result)
    return converted(result, dtype)


@algorithm
def whole_power(x: Tensor, exponent: int) -> Tensor:
    """A power that is known and at least one, by multiplication, which wraps around; `Pow` goes through doubles."""
    result: Tensor | None = None
    while True:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if not exponent:
            assert result is not None  # the first bit of a positive exponent is set
            return result
        x = x * x


# -- hashes --------------------------------------------------------------------------------------------


@algorithm
def reduced_by_xor(bits: Tensor, dims: int | Sequence[int] | None, keepdim: bool) -> Tensor:
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
    valued = op.Mod(total, np.int64(2)) * np.tile(2 ** np.arange(32), 2)
    last = rank_of(valued) - 1
    low, high = (
        converted(op.ReduceSum(op.Slice(valued, [k], [k + 32], [last]), [last], keepdims=0), DType.UINT64)
        for k in (0, 32)
    )
    return op.BitwiseOr(op.BitShift(high, np.uint64(32), direction="LEFT"), low)
