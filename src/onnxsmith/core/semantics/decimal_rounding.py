"""`round(number, digits)` of Python's own numbers: the float nearest to the decimal, and whole numbers exactly.

Python rounds the decimal that a float is, to the last digit. numpy multiplies by a power of ten first, which rounds,
too, so that `round(2.675, 2)` and `np.round(2.675, 2)` differ. Tensors and arrays are rounded as numpy rounds them
(`arithmetic.round_half_even`), numbers of Python's here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.demands import demand
from onnxsmith.core.operands import operators_for
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics import division
from onnxsmith.core.value import Operand, TensorValue
from onnxsmith.errors import AttributeValueError

#: The last power of ten that a float of 64 bits has exactly.
_EXACT_POWERS = 22
#: Digits after the point that no float of 64 bits is rounded by: Python, too, gives the float itself.
_ALL_DIGITS = 323
#: From here on all floats of 64 bits are whole, and even.
_WHOLE = np.float64(2.0**53)
#: Divides 53 bits into two halves, whose products are exact (Dekker).
_SPLITTER = np.float64(2.0**27 + 1)
_ZERO, _HALF, _ONE = np.float64(0), np.float64(0.5), np.float64(1)


def round_float(value: TensorValue, digits: int) -> TensorValue:
    """A float of 64 bits, rounded to digits after the point, or before it where they are negative."""
    op = operators_for(value)
    if digits == 0:
        return op.Round(value)
    if digits > _ALL_DIGITS:
        return value
    if abs(digits) > _EXACT_POWERS:
        raise AttributeValueError(
            f"round(…, {digits}) asks for a power of ten that a float of 64 bits does not have",
            help=f"ask for {_EXACT_POWERS} digits at most",
        ).locate_at_caller()
    scale = np.float64(10.0 ** abs(digits))
    if digits > 0:
        # The value is what is asked for already where the digits end before those that are asked for.
        scaled = op.Mul(value, scale)
        error = _error_of_product(op, value, scale, scaled)
        rounded = op.Div(_nearest(op, scaled, error), scale)
        return _unless_whole(op, scaled, rounded, value)
    scaled = op.Div(value, scale)
    product = op.Mul(scaled, scale)
    error = op.Sub(op.Sub(value, product), _error_of_product(op, scaled, scale, product))
    rounded = op.Mul(_nearest(op, scaled, error), scale)
    made = _unless_whole(op, scaled, rounded, value)
    most = np.float64(np.finfo(np.float64).max)
    demand(
        lambda: op.Or(op.LessOrEqual(op.Abs(made), most), op.Not(op.LessOrEqual(op.Abs(value), most))),
        OverflowError("rounded value too large to represent"),
    )
    return made


def _nearest(op: StandardOperators, scaled: Operand, error: Operand) -> TensorValue:
    """The whole number nearest to `scaled + error`, the even one at the half; the error is below the last digit."""
    below = op.Floor(scaled)
    part = op.Sub(scaled, below)  # exact
    at_half = op.Equal(part, _HALF)
    beyond = op.Or(op.Greater(error, _ZERO), op.And(op.Equal(error, _ZERO), _is_odd(op, below)))
    goes_up = op.Or(op.Greater(part, _HALF), op.And(at_half, beyond))
    return op.Where(goes_up, op.Add(below, _ONE), below)


def _is_odd(op: StandardOperators, whole: Operand) -> TensorValue:
    half = op.Mul(whole, _HALF)
    return op.Less(op.Floor(half), half)


def _error_of_product(op: StandardOperators, a: Any, b: np.float64, product: Operand) -> TensorValue:
    """The rounding error of a product."""
    a_high, a_low = _halves(op, a)
    b_high = b * _SPLITTER - (b * _SPLITTER - b)
    b_low = b - b_high
    rest = op.Sub(op.Mul(a_high, b_high), product)
    rest = op.Add(rest, op.Mul(a_high, b_low))
    rest = op.Add(rest, op.Mul(a_low, b_high))
    return op.Add(rest, op.Mul(a_low, b_low))


def _halves(op: StandardOperators, a: Any) -> tuple[TensorValue, TensorValue]:
    stretched = op.Mul(a, _SPLITTER)
    high = op.Sub(stretched, op.Sub(stretched, a))
    return high, op.Sub(a, high)


def _unless_whole(
    op: StandardOperators, scaled: TensorValue, rounded: TensorValue, value: TensorValue
) -> TensorValue:
    """The rounded value, or the value itself where it has no digits to round; a zero has the sign of the value.

    ONNX Runtime's `Where` gives 0.0 for a -0.0 that stands first, and so it stands last.
    """
    signed = op.Where(op.Greater(op.Abs(rounded), _ZERO), rounded, op.Mul(value, _ZERO))
    return op.Where(op.GreaterOrEqual(op.Abs(scaled), _WHOLE), value, signed)


def round_whole(value: TensorValue, digits: int) -> TensorValue:
    """An integer of 64 bits, rounded to tens, hundreds and so on; to the even one at the half."""
    op = operators_for(value)
    if digits >= 0:
        return value
    if digits < -18:
        return op.Mul(value, np.int64(0))  # a power of ten past twice the range
    scale = np.int64(10**-digits)
    below = division.floor_divide(value, scale)
    rest = op.Sub(value, op.Mul(below, scale))
    half = np.int64(scale // 2)
    is_odd = op.Equal(op.Mod(below, np.int64(2)), np.int64(1))
    goes_up = op.Or(op.Greater(rest, half), op.And(op.Equal(rest, half), is_odd))
    return op.Mul(op.Where(goes_up, op.Add(below, np.int64(1)), below), scale)
