"""Whole quotients and what they leave, with numpy's signs: of integers, and of fractions."""

from __future__ import annotations

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.values import converted, dtype_of, like
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import define
from onnxsmith.numpy.ufuncs.precision import in_single


def _truncated(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    """Quotient towards zero and rest of integers; both are 0 for a divisor of 0, and nothing traps."""
    zero, one = like(0, x), like(1, x)
    by_zero = op.Equal(y, zero)
    if dtype_of(x).kind == "unsigned":
        quotient = op.Div(x, op.Where(by_zero, one, y))
        quotient = op.Where(by_zero, zero, quotient)
        return quotient, op.Where(by_zero, zero, op.Sub(x, op.Mul(quotient, y)))
    # Processors trap where the lowest integer is divided by -1.
    by_minus_one = op.Equal(y, like(-1, x))
    quotient = op.Div(x, op.Where(op.Or(by_zero, by_minus_one), one, y))
    quotient = op.Where(by_zero, zero, op.Where(by_minus_one, op.Neg(x), quotient))
    return quotient, op.Where(by_zero, zero, op.Sub(x, op.Mul(quotient, y)))


def _floored(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    """Quotient towards minus infinity and rest, of integers."""
    quotient, rest = _truncated(x, y)
    if dtype_of(x).kind == "unsigned":
        return quotient, rest
    zero = like(0, x)
    is_off = op.And(op.Not(op.Equal(rest, zero)), op.Xor(op.Less(rest, zero), op.Less(y, zero)))
    quotient = op.Sub(quotient, converted(is_off, dtype_of(x)))
    return quotient, op.Where(is_off, op.Add(rest, y), rest)


def _float_rest(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue, TensorValue]:
    """What fmod leaves, the same with the divisor's sign, and whether the two differ."""
    zero = like(0, x)
    plain = op.Mod(x, y, fmod=1)
    is_zero = op.Equal(plain, zero)
    is_off = op.And(op.Not(is_zero), op.Xor(op.Less(y, zero), op.Less(plain, zero)))
    rest = op.Where(is_off, op.Add(plain, y), plain)
    return plain, chosen(is_zero, copysign(plain, y), rest), is_off


def _float_divmod(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    zero, one = like(0, x), like(1, x)
    plain, rest, is_off = _float_rest(x, y)
    quotient = op.Div(op.Sub(x, plain), y)
    quotient = op.Where(is_off, op.Sub(quotient, one), quotient)
    floor = op.Floor(quotient)
    floor = op.Where(op.Greater(op.Sub(quotient, floor), like(0.5, x)), op.Add(floor, one), floor)
    # A quotient of zero has the sign of the fraction.
    ratio = op.Div(x, y)
    floor = chosen(op.Equal(quotient, zero), copysign(quotient, ratio), floor)
    by_zero = op.Equal(y, zero)
    return chosen(by_zero, ratio, floor), rest


@in_single
def _divmod(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    return _float_divmod(x, y) if dtype_of(x).is_float else _floored(x, y)


@in_single
def _floor_divide(x: TensorValue, y: TensorValue) -> TensorValue:
    return _float_divmod(x, y)[0] if dtype_of(x).is_float else _floored(x, y)[0]


@in_single
def _remainder(x: TensorValue, y: TensorValue) -> TensorValue:
    return _float_rest(x, y)[1] if dtype_of(x).is_float else _floored(x, y)[1]


@in_single
def _fmod(x: TensorValue, y: TensorValue) -> TensorValue:
    return op.Mod(x, y, fmod=1) if dtype_of(x).is_float else _truncated(x, y)[1]


floor_divide = define("floor_divide", _floor_divide)
remainder = define(("remainder", "mod"), _remainder)
fmod = define("fmod", _fmod)
divmod = define("divmod", _divmod)
