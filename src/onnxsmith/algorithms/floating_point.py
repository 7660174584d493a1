"""The parts of a floating-point number: sign, exponent, neighbours; and what has to mind them.

Two operands are of one element type and broadcast.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special import circular, double
from onnxsmith.algorithms.values import cast, converted, dtype_of, like
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType

#: Bits of the significand, and the exponent of the smallest number.
FORMATS = {
    DType.FLOAT: (24, -149),
    DType.DOUBLE: (53, -1074),
    DType.FLOAT16: (11, -24),
    DType.BFLOAT16: (8, -133),
}
_BFLOAT16_MAX = np.float64(3.3895313892515355e38)


def signbit(x: TensorValue) -> TensorValue:
    """Whether the sign is minus, of a zero too."""
    dtype = dtype_of(x)
    if dtype.is_float:
        return double.is_negative(x)
    return op.Less(x, like(0, x)) if dtype is not DType.BOOL else op.Xor(x, x)


@algorithm
def copysign(x: TensorValue, y: TensorValue) -> TensorValue:
    """The size of `x` with the sign of `y`."""
    return op.Mul(op.Abs(x), _sign(y))


def _sign(y: TensorValue) -> TensorValue:
    """1 or -1 to multiply with. (ONNX Runtime's `Where` makes a zero of a zero with a sign.)"""
    return op.Where(double.is_negative(y), like(-1, y), like(1, y))


@algorithm
def fmax(x: TensorValue, y: TensorValue) -> TensorValue:
    """The larger one, and the one that is a number if the other is not."""
    dtype = dtype_of(x)
    if dtype is DType.BOOL:
        return op.Or(x, y)
    if not dtype.is_float:
        return op.Max(x, y)
    return op.Where(op.Or(op.GreaterOrEqual(x, y), op.IsNaN(y)), x, y)


@algorithm
def fmin(x: TensorValue, y: TensorValue) -> TensorValue:
    """The smaller one, and the one that is a number if the other is not."""
    dtype = dtype_of(x)
    if dtype is DType.BOOL:
        return op.And(x, y)
    if not dtype.is_float:
        return op.Min(x, y)
    return op.Where(op.Or(op.LessOrEqual(x, y), op.IsNaN(y)), x, y)


@algorithm
def trunc(x: TensorValue) -> TensorValue:
    """Rounded towards zero."""
    return op.Where(op.Less(x, 0.0), op.Ceil(x), op.Floor(x)) if dtype_of(x).is_float else x


# -- quotients -----------------------------------------------------------------------------------------


@algorithm
def floor_divide(x: TensorValue, y: TensorValue) -> TensorValue:
    """By the remainder: the quotient of 1 and 0.1 rounds to 10, but 0.1 fits into 1 only nine times."""
    zero, one = like(0, x), like(1, x)
    rest = op.Mod(x, y, fmod=1)
    quotient = op.Div(op.Sub(x, rest), y)
    is_below = op.And(op.Not(op.Equal(rest, zero)), op.Xor(op.Less(rest, zero), op.Less(y, zero)))
    quotient = op.Where(is_below, op.Sub(quotient, one), quotient)
    floor = op.Floor(quotient)
    is_short = op.Greater(op.Sub(quotient, floor), like(0.5, x))
    floor = op.Where(is_short, op.Add(floor, one), floor)
    return op.Where(op.Equal(y, zero), op.Div(x, y), floor)


@algorithm
def remainder(x: TensorValue, y: TensorValue) -> TensorValue:
    """What is left when `x` is divided and rounded down; it has the sign of `y`."""
    zero = like(0, x)
    rest = op.Mod(x, y, fmod=1)
    differs = op.And(op.Not(op.Equal(rest, zero)), op.Xor(op.Less(rest, zero), op.Less(y, zero)))
    return op.Where(differs, op.Add(rest, y), rest)


# -- angles and lengths --------------------------------------------------------------------------------


@algorithm
def atan2(y: TensorValue, x: TensorValue) -> TensorValue:
    """The angle of the point (x, y), by the signs of both, of zeros too; in single or double precision."""
    dtype = dtype_of(y)
    sign, y = _sign(y), op.Abs(y)
    are_infinite = op.And(op.IsInf(y), op.IsInf(x))
    are_zero = op.And(op.Equal(y, like(0, y)), op.Equal(x, like(0, y)))
    slope = op.Div(op.Where(are_infinite, op.Sign(y), y), op.Where(are_infinite, op.Sign(x), x))
    slope = op.Where(are_zero, like(0, y), slope)
    angle = circular.atan(slope) if dtype is DType.DOUBLE else op.Atan(slope)
    is_left = op.And(double.is_negative(x), op.Not(op.IsNaN(x)))
    # On the left the angle of the upper half is up to a quarter below zero so far.
    return op.Mul(op.Where(is_left, op.Add(angle, cast(np.pi, dtype)), angle), sign)


@algorithm
def hypot(x: TensorValue, y: TensorValue) -> TensorValue:
    """The length of (x, y), without an overflow on the way: in double precision, or scaled by the larger."""
    dtype = dtype_of(x)
    x, y = op.Abs(converted(x, DType.DOUBLE)), op.Abs(converted(y, DType.DOUBLE))
    if dtype is not DType.DOUBLE:
        length = op.Sqrt(op.Add(op.Mul(x, x), op.Mul(y, y)))
    else:
        largest = op.Max(x, y)
        ratio = op.Div(op.Min(x, y), op.Where(op.Equal(largest, np.float64(0)), np.float64(1), largest))
        length = op.Mul(largest, op.Sqrt(op.Add(op.Mul(ratio, ratio), np.float64(1))))
    # Infinite is the distance to infinity, even if the other coordinate is no number.
    return converted(op.Where(op.Or(op.IsInf(x), op.IsInf(y)), np.float64(np.inf), length), dtype)


# -- exponents -----------------------------------------------------------------------------------------


def _power_of_two(exponent: TensorValue) -> TensorValue:
    """Two to a whole number, in double precision."""
    return op.Pow(np.float64(2), exponent)


def _scaled(x: TensorValue, exponent: TensorValue) -> TensorValue:
    """x times two to a whole number, in two steps: the power alone may be out of range."""
    half = op.Floor(op.Mul(exponent, np.float64(0.5)))
    return op.Mul(op.Mul(x, _power_of_two(half)), _power_of_two(op.Sub(exponent, half)))


def _parts(x: TensorValue) -> tuple[TensorValue, TensorValue]:
    """A mantissa of size 0.5 to 1 and an exponent, both in double precision; zero, infinity and nan as they are."""
    is_plain = op.Or(op.Equal(x, np.float64(0)), op.Or(op.IsNaN(x), op.IsInf(x)))
    size = op.Where(is_plain, np.float64(1), op.Abs(x))
    exponent = op.Add(op.Floor(op.Mul(op.Log(size), np.float64(1 / np.log(2.0)))), np.float64(1))
    mantissa = _scaled(size, op.Neg(exponent))
    # The logarithm may have fallen on the wrong side of a whole number.
    is_low, is_high = op.Less(mantissa, np.float64(0.5)), op.GreaterOrEqual(mantissa, np.float64(1))
    change = op.Sub(converted(is_high, DType.DOUBLE), converted(is_low, DType.DOUBLE))
    exponent = op.Add(exponent, change)
    mantissa = _scaled(size, op.Neg(exponent))
    mantissa = op.Where(op.Less(x, np.float64(0)), op.Neg(mantissa), mantissa)
    return op.Where(is_plain, x, mantissa), op.Where(is_plain, np.float64(0), exponent)


@algorithm
def frexp(x: TensorValue, dtype: DType | None = None) -> tuple[TensorValue, TensorValue]:
    """A mantissa of size 0.5 to 1, in `dtype` or as given, and an INT32 exponent of two."""
    mantissa, exponent = _parts(converted(x, DType.DOUBLE))
    return converted(mantissa, dtype or dtype_of(x)), converted(exponent, DType.INT32)


@algorithm
def nextafter(x: TensorValue, y: TensorValue) -> TensorValue:
    """The neighbour of `x` towards `y` in their element type."""
    dtype = dtype_of(x)
    digits, least = FORMATS[dtype]
    x, y = converted(x, DType.DOUBLE), converted(y, DType.DOUBLE)
    largest = np.float64(np.finfo(dtype.numpy).max) if dtype is not DType.BFLOAT16 else _BFLOAT16_MAX
    mantissa, exponent = _parts(x)
    goes_up = op.Greater(y, x)
    towards_zero = op.Or(
        op.And(op.Greater(x, np.float64(0)), op.Not(goes_up)), op.And(op.Less(x, np.float64(0)), goes_up)
    )
    # Below a power of two the steps are half as long.
    is_edge = op.And(towards_zero, op.Equal(op.Abs(mantissa), np.float64(0.5)))
    step_exponent = op.Sub(exponent, op.Add(converted(is_edge, DType.DOUBLE), np.float64(digits)))
    step_exponent = op.Max(
        op.Where(op.Equal(x, np.float64(0)), np.float64(least), step_exponent), np.float64(least)
    )
    step = _power_of_two(step_exponent)
    result = op.Add(x, op.Where(goes_up, step, op.Neg(step)))
    result = op.Where(op.IsInf(x), op.Mul(op.Sign(x), largest), result)
    result = op.Where(op.Equal(x, y), y, result)
    beyond = op.Greater(op.Abs(result), largest)
    result = op.Where(beyond, op.Mul(op.Sign(result), np.float64(np.inf)), result)
    result = op.Where(op.Or(op.IsNaN(x), op.IsNaN(y)), np.float64(np.nan), result)
    return converted(result, dtype)
