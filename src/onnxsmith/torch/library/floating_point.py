# pyright: basic
"""What is about the parts of a floating-point number: sign, exponent, neighbours; and angles of two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.algorithms.special import circular, double
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, promoted
from onnxsmith.types.dtypes import DType


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorValue) else constant(value)


@translates("aten.signbit.default", "prims.signbit.default")
def signbit(call: Call, x: Any) -> Any:
    if x.dtype.is_float:
        return double.is_negative(x)
    return op.Less(x, cast(0, x.dtype)) if x.dtype is not DType.BOOL else op.Xor(x, x)


@translates("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    size = op.Abs(x)
    if not isinstance(y, TensorValue):
        return op.Neg(size) if np.signbit(y) else size
    return op.Where(double.is_negative(y), op.Neg(size), size)


@translates("aten.fmax.default", "aten.fmin.default", "prims.fmax.default", "prims.fmin.default")
def number_of_two(call: Call, x: Any, y: Any) -> Any:
    """The larger or smaller one, and the one that is a number if the other is not."""
    is_max = ".fmax." in call.overload
    x, y = promoted(call, x, y)
    if call.dtype is DType.BOOL:
        return op.Or(x, y) if is_max else op.And(x, y)
    if not call.dtype.is_float:
        return op.Max(x, y) if is_max else op.Min(x, y)
    wins = op.GreaterOrEqual(x, y) if is_max else op.LessOrEqual(x, y)
    return op.Where(op.Or(wins, op.IsNaN(y)), x, y)


# -- angles --------------------------------------------------------------------------------------------


@translates("aten.atan2.default", "aten.arctan2.default", "prims.atan2.default")
def atan2(call: Call, y: Any, x: Any) -> Any:
    """The angle of the point (x, y), by the signs of both, of zeros too."""
    dtype = DType.DOUBLE if call.dtype is DType.DOUBLE else DType.FLOAT
    y, x = cast(y, dtype), cast(x, dtype)
    are_infinite = op.And(op.IsInf(y), op.IsInf(x))
    are_zero = op.And(op.Equal(y, cast(0, dtype)), op.Equal(x, cast(0, dtype)))
    slope = op.Div(op.Where(are_infinite, op.Sign(y), y), op.Where(are_infinite, op.Sign(x), x))
    slope = op.Where(are_zero, cast(0, dtype), slope)
    angle = circular.atan(slope) if dtype is DType.DOUBLE else op.Atan(slope)
    half_turn = op.Where(double.is_negative(y), cast(-np.pi, dtype), cast(np.pi, dtype))
    is_left = op.And(double.is_negative(x), op.Not(op.IsNaN(x)))
    angle = op.Where(is_left, op.Add(angle, half_turn), angle)
    # A zero on the right keeps its sign.
    return op.Where(
        op.And(op.Equal(angle, cast(0, dtype)), op.Not(is_left)), op.Where(are_zero, y, angle), angle
    )


@translates("aten.hypot.default", "prims.hypot.default")
def hypot(call: Call, x: Any, y: Any) -> Any:
    """Without an overflow on the way: in double precision, or scaled by the larger."""
    x, y = (op.Abs(cast(each, DType.DOUBLE)) for each in (x, y))
    if call.dtype is not DType.DOUBLE:
        length = op.Sqrt(op.Add(op.Mul(x, x), op.Mul(y, y)))
    else:
        largest = op.Max(x, y)
        ratio = op.Div(op.Min(x, y), op.Where(op.Equal(largest, np.float64(0)), np.float64(1), largest))
        length = op.Mul(largest, op.Sqrt(op.Add(op.Mul(ratio, ratio), np.float64(1))))
    # Infinite is the distance to infinity, even if the other coordinate is no number.
    return op.Where(op.Or(op.IsInf(x), op.IsInf(y)), np.float64(np.inf), length)


# -- exponents -----------------------------------------------------------------------------------------

#: Bits of the significand, and the exponent of the smallest number.
FORMATS = {
    DType.FLOAT: (24, -149),
    DType.DOUBLE: (53, -1074),
    DType.FLOAT16: (11, -24),
    DType.BFLOAT16: (8, -133),
}


def _power_of_two(exponent: Any) -> Any:
    """Two to a whole number, in double precision."""
    return op.Pow(np.float64(2), exponent)


def _scaled(x: Any, exponent: Any) -> Any:
    """x times two to a whole number, in two steps: the power alone may be out of range."""
    half = op.Floor(op.Mul(exponent, np.float64(0.5)))
    return op.Mul(op.Mul(x, _power_of_two(half)), _power_of_two(op.Sub(exponent, half)))


def _parts(x: Any) -> tuple[Any, Any]:
    """A mantissa of size 0.5 to 1 and an exponent, both in double precision; zero, infinity and nan as they are."""
    is_plain = op.Or(op.Equal(x, np.float64(0)), op.Or(op.IsNaN(x), op.IsInf(x)))
    size = op.Where(is_plain, np.float64(1), op.Abs(x))
    exponent = op.Add(op.Floor(op.Mul(op.Log(size), np.float64(1 / np.log(2.0)))), np.float64(1))
    mantissa = _scaled(size, op.Neg(exponent))
    # The logarithm may have fallen on the wrong side of a whole number.
    is_low, is_high = op.Less(mantissa, np.float64(0.5)), op.GreaterOrEqual(mantissa, np.float64(1))
    change = op.Sub(cast(is_high, DType.DOUBLE), cast(is_low, DType.DOUBLE))
    exponent = op.Add(exponent, change)
    mantissa = _scaled(size, op.Neg(exponent))
    mantissa = op.Where(op.Less(x, np.float64(0)), op.Neg(mantissa), mantissa)
    return op.Where(is_plain, x, mantissa), op.Where(is_plain, np.float64(0), exponent)


@translates("aten.frexp.Tensor", "prims.frexp.default")
def frexp(call: Call, x: Any) -> Any:
    mantissa, exponent = _parts(cast(x, DType.DOUBLE))
    return [cast(mantissa, call.dtype), cast(exponent, DType.INT32)]


@translates("aten.nextafter.default", "prims.nextafter.default")
def nextafter(call: Call, x: Any, y: Any) -> Any:
    digits, least = FORMATS[call.dtype]
    x, y = (_tensor(cast(each, DType.DOUBLE)) for each in (x, y))
    largest = (
        np.float64(np.finfo(call.dtype.numpy).max) if call.dtype is not DType.BFLOAT16 else _BFLOAT16_MAX
    )
    mantissa, exponent = _parts(x)
    goes_up = op.Greater(y, x)
    towards_zero = op.Or(
        op.And(op.Greater(x, np.float64(0)), op.Not(goes_up)), op.And(op.Less(x, np.float64(0)), goes_up)
    )
    # Below a power of two the steps are half as long.
    is_edge = op.And(towards_zero, op.Equal(op.Abs(mantissa), np.float64(0.5)))
    step_exponent = op.Sub(exponent, op.Add(cast(is_edge, DType.DOUBLE), np.float64(digits)))
    step_exponent = op.Max(
        op.Where(op.Equal(x, np.float64(0)), np.float64(least), step_exponent), np.float64(least)
    )
    step = _power_of_two(step_exponent)
    result = op.Add(x, op.Where(goes_up, step, op.Neg(step)))
    result = op.Where(op.IsInf(x), op.Mul(op.Sign(x), largest), result)
    result = op.Where(op.Equal(x, y), y, result)
    beyond = op.Greater(op.Abs(result), largest)
    result = op.Where(beyond, op.Mul(op.Sign(result), np.float64(np.inf)), result)
    return op.Where(op.Or(op.IsNaN(x), op.IsNaN(y)), np.float64(np.nan), result)


_BFLOAT16_MAX = np.float64(3.3895313892515355e38)
