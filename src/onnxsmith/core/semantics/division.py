"""`//`, `%` and `divmod` on tensors, with Python's rounding and numpy's answers at the edges.

ONNX has a division that truncates and a remainder of either sign. Integers over 0 are an error where the model runs, as
in Python. What a runtime gets wrong of these operators is in its table of facts, and not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.core.operands import data_of, dtype_of, is_array, operators_for
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics.operand_pairs import as_pair, check_one_dtype
from onnxsmith.core.value import Operand, TensorValue, Value
from onnxsmith.errors import DTypeNotAllowedError
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.known import Data
from onnxsmith.types.dtypes import DType

#: A quotient or a remainder of floats.
_Division: TypeAlias = Callable[[StandardOperators, Operand, Operand], TensorValue]


def floor_divide(a: Operand, b: Operand) -> TensorValue:
    """`a // b`, rounding towards minus infinity on every type, with numpy's answers near the rounding limits."""
    op, dtype, a, b = _prepare_division("//", a, b)
    if not dtype.is_integer:
        return _in_wider_floats(op, dtype, a, b, _float_quotient)
    if dtype.kind == "unsigned" or (_is_at_least(a, 0) and _is_at_least(b, 1)):
        return op.Div(a, b)
    divisors = _data(b)
    if is_array(divisors) and divisors.ndim == 0 and divisors == -1:
        return op.Neg(a)
    sign = _known_sign(b)
    if sign is None:
        return _signed_quotient(op, a, b)
    quotient = op.Div(a, b)
    product = op.Mul(quotient, b)
    rounded_up = op.Less(a, product) if sign > 0 else op.Greater(a, product)
    return op.Sub(quotient, op.Cast(rounded_up, to=dtype))


def remainder(a: Operand, b: Operand) -> TensorValue:
    """`a % b`, with the sign of `b`."""
    op, dtype, a, b = _prepare_division("%", a, b)
    if not dtype.is_integer:
        return _in_wider_floats(op, dtype, a, b, _float_remainder)
    return op.Mod(a, b)


def divide_with_remainder(a: Operand, b: Operand) -> tuple[TensorValue, TensorValue]:
    """`divmod(a, b)`"""
    return floor_divide(a, b), remainder(a, b)


def _prepare_division(
    symbol: str, a: Operand, b: Operand
) -> tuple[StandardOperators, DType, Operand, Operand]:
    op = operators_for(a, b)
    a, b = as_pair(op, a, b, "Div" if symbol == "//" else "Mod")
    dtype = dtype_of(a, b)
    if dtype is None:
        raise DTypeNotAllowedError(
            f"'{symbol}' is computed in other ways on integers than on floats, "
            "and the element type is not known here",
            help="annotate the parameter, or call op.Div and op.Mod",
            needs_values=True,
        )
    check_one_dtype(symbol, a, b)
    if not dtype.is_integer and not dtype.is_float:
        raise DTypeNotAllowedError(f"'{symbol}' is for numbers, not {dtype.spelling}")
    return op, dtype, a, b


def _known_sign(value: Operand) -> int | None:
    """1 or -1 for numbers that are known now, never zero and of one sign; None otherwise."""
    data = _data(value)
    if is_array(data) and data.size and data.dtype.kind in "iuf":
        if (data > 0).all():
            return 1
        return -1 if (data < 0).all() else None
    return 1 if _is_at_least(value, 1) else None


def _is_at_least(value: Operand, bound: int) -> bool:
    """True if an integer is known to be so large: dimensions are, and what is computed from them may be."""
    data = _data(value)
    if isinstance(data, np.ndarray):
        return data.dtype.kind in "iu" and bool((data >= bound).all())
    entries = data if isinstance(data, tuple) else (data,)
    # Of what is divided a size of 0 is as good as any other; a division by 0 is no result that could be wrong.
    return all(symbolic.is_at_least(each, bound, least=bound) for each in entries)


def _data(value: Operand) -> Data:
    """The content of a value that is known when a graph is made.

    An eager tensor's elements are not looked at, so that it is computed as a traced one is.
    """
    return None if isinstance(value, Value) and not value.is_symbolic else data_of(value)


def _signed_quotient(op: StandardOperators, a: Operand, b: Operand) -> TensorValue:
    """The truncated quotient, less 1 where the rest that truncation leaves is not Python's: they differ by `b`."""
    quotient = op.Div(a, b)
    rest = op.Sub(a, op.Mul(quotient, b))
    return op.Sub(quotient, op.Div(op.Sub(op.Mod(a, b), rest), b))


def _in_wider_floats(
    op: StandardOperators, dtype: DType, a: Operand, b: Operand, compute: _Division
) -> TensorValue:
    """Half precision is computed in single precision, as numpy does: a quotient may need more digits than it has."""
    if dtype in (DType.FLOAT, DType.DOUBLE):
        return compute(op, a, b)
    a, b = (each.astype(np.float32) if is_array(each) else op.Cast(each, to=DType.FLOAT) for each in (a, b))
    return op.Cast(compute(op, a, b), to=dtype)


def _float_quotient(op: StandardOperators, a: Operand, b: Operand) -> TensorValue:
    """Of what divides evenly, so that 1.0 // 0.1 is 9 and not floor(10.0); the rest is only rounding."""
    rest = op.Mod(a, b, fmod=1)
    even = op.Div(op.Sub(a, rest), b)
    rounds_down = op.Cast(_has_wrong_sign(op, rest, b), to=dtype_of(a, b))
    # To the nearest integer, and down from a half, as numpy does: Round would go to the even one.
    below_half = np.nextafter(np.array(0.5, _numpy_dtype(b)), np.array(0, _numpy_dtype(b)))
    result = op.Ceil(op.Sub(op.Sub(even, rounds_down), below_half))
    zero, sign = np.array(0, _numpy_dtype(b)), _known_sign(b)
    quotient = op.Div(a, b) if sign is None else a
    # A zero has the sign of the quotient; ONNX Runtime's `Where` keeps that of what stands last.
    signed = op.Mul(quotient, -zero if sign == -1 else zero)
    result = op.Where(op.Cast(result, to=DType.BOOL), result, signed)
    return result if sign is not None else op.Where(op.Equal(b, zero), quotient, result)


def _float_remainder(op: StandardOperators, a: Operand, b: Operand) -> TensorValue:
    rest = op.Mod(a, b, fmod=1)
    is_wrong, zero, sign = _has_wrong_sign(op, rest, b), np.array(0, _numpy_dtype(b)), _known_sign(b)
    # A zero has the sign of the divisor: the sum of a negative and a positive one is positive.
    if sign == 1:
        return op.Add(rest, op.Where(is_wrong, b, zero))
    ours = op.Sign(b) if sign is None else np.array(-1, _numpy_dtype(b))
    return op.Mul(ours, op.Add(op.Mul(ours, rest), op.Where(is_wrong, op.Abs(b), zero)))


def _has_wrong_sign(op: StandardOperators, rest: Operand, b: Operand) -> TensorValue:
    """Where C's remainder, which has the sign of the dividend, is not Python's, which has that of the divisor."""
    zero = np.array(0, _numpy_dtype(b))
    sign = _known_sign(b)
    if sign is not None:
        return op.Less(rest, zero) if sign > 0 else op.Greater(rest, zero)
    differ = op.Xor(op.Less(rest, zero), op.Less(b, zero))
    return op.And(op.Cast(rest, to=DType.BOOL), differ)


def _numpy_dtype(value: Operand) -> np.dtype[Any]:
    dtype = dtype_of(value)
    assert dtype is not None
    return dtype.numpy
