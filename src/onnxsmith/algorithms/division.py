"""Whole quotients and what they leave, of integers and of fractions.

Two operands are of one element type and broadcast. An integer divided by 0 gives 0 and leaves 0, and nothing traps.
The sign of a result that is zero costs nodes, and is that of numpy where it is asked for.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.values import converted, dtype_of, like


@algorithm(has_gradient=True)
def floor_divide(x: Tensor, y: Tensor, *, signs_zero: bool = False) -> Tensor:
    """Divided and rounded down."""
    if dtype_of(x).is_float:
        return _float_divided(x, y, signs_zero)[0]
    return _floored(x, y, _Divisor(y))


@algorithm(has_gradient=True)
def remainder(x: Tensor, y: Tensor, *, signs_zero: bool = False) -> Tensor:
    """The remainder of `x` when it is divided and rounded down; it has the sign of `y`."""
    if dtype_of(x).is_float:
        return _float_rest(x, y, signs_zero)[1]
    return op.Mod(x, _Divisor(y).safe)


@algorithm(has_gradient=True)
def floor_divide_and_remainder(x: Tensor, y: Tensor, *, signs_zero: bool = False) -> tuple[Tensor, Tensor]:
    """Both of them."""
    if dtype_of(x).is_float:
        return _float_divided(x, y, signs_zero)
    divisor = _Divisor(y)
    return _floored(x, y, divisor), op.Mod(x, divisor.safe)


@algorithm
def truncated_remainder(x: Tensor, y: Tensor) -> Tensor:
    """The remainder of `x`, with its sign, when it is divided and rounded towards zero.

    ONNX Runtime's `fmod` of integers goes through doubles, which have fewer digits than longs.
    """
    if dtype_of(x).is_float:
        return op.Mod(x, y, fmod=1)
    rest = op.Mod(x, _Divisor(y).safe)
    if dtype_of(x).kind == "unsigned":
        return rest
    return rest - y * converted(_is_inexact_below(x, y, rest), dtype_of(x))


# -- integers --------------------------------------------------------------------------------------------


class _Divisor:
    """Integers to divide by: processors trap at 0, and where the lowest integer is divided by -1."""

    def __init__(self, y: Tensor) -> None:
        self.is_zero = op.Equal(y, 0) if _may_be(y, 0) else None
        has_sign = dtype_of(y).kind == "signed"
        self.is_minus_one = op.Equal(y, -1) if has_sign and _may_be(y, -1) else None
        traps = [each for each in (self.is_zero, self.is_minus_one) if each is not None]
        #: One where it would trap.
        self.safe = y
        if traps:
            self.safe = op.Where(traps[0] if len(traps) == 1 else op.Or(*traps), 1, y)


def _may_be(y: Tensor, value: int) -> bool:
    """True if an element may be a number, by what is known."""
    data = y.known.data
    return not isinstance(data, np.ndarray) or bool((data == value).any())


def _floored(x: Tensor, y: Tensor, divisor: _Divisor) -> Tensor:
    """ONNX's `Div` rounds towards zero, and is one too high below it."""
    quotient = op.Div(x, divisor.safe)
    if divisor.is_minus_one is not None:
        quotient = op.Where(divisor.is_minus_one, -x, quotient)
    if divisor.is_zero is not None:
        quotient = op.Where(divisor.is_zero, like(0, x), quotient)
    if dtype_of(x).kind == "unsigned":
        return quotient
    is_off = _is_inexact_below(x, y, op.Mod(x, divisor.safe))
    return quotient - converted(is_off, dtype_of(x))


def _is_inexact_below(x: Tensor, y: Tensor, rest: Tensor) -> Tensor:
    """Where the quotient of integers has a fraction and is negative."""
    zero = like(0, x)
    return ~op.Equal(rest, zero) & ((x < zero) ^ (y < zero))


# -- fractions -------------------------------------------------------------------------------------------


def _float_rest(x: Tensor, y: Tensor, signs_zero: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The result of `fmod`, the same with the divisor's sign, and a flag where the two differ."""
    zero = like(0, x)
    plain = op.Mod(x, y, fmod=1)
    is_zero = op.Equal(plain, zero)
    is_off = ~is_zero & ((plain < zero) ^ (y < zero))
    rest = op.Where(is_off, plain + y, plain)
    return plain, chosen(is_zero, copysign(plain, y), rest) if signs_zero else rest, is_off


def _float_divided(x: Tensor, y: Tensor, signs_zero: bool) -> tuple[Tensor, Tensor]:
    """By the remainder: the quotient of 1 and 0.1 rounds to 10, but 0.1 fits into 1 only nine times."""
    zero, one = like(0, x), like(1, x)
    plain, rest, is_off = _float_rest(x, y, signs_zero)
    quotient = op.Div(x - plain, y)
    quotient = op.Where(is_off, quotient - one, quotient)
    floor = op.Floor(quotient)
    floor = op.Where(quotient - floor > 0.5, floor + one, floor)
    by_zero, ratio = op.Equal(y, zero), op.Div(x, y)
    if not signs_zero:
        return op.Where(by_zero, ratio, floor), rest
    # A quotient of zero has the sign of the fraction.
    floor = chosen(op.Equal(quotient, zero), copysign(quotient, ratio), floor)
    return chosen(by_zero, ratio, floor), rest
