"""Python's operators on tensors, each defined once: what `a // b` means in ONNX, eagerly and in a graph.

The meaning is Python's and numpy's wherever they define one; the exceptions are ONNX's (`/` truncates on integers,
element types do not mix) and stand in the language reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.operator import Operators
from onnxsmith.core.target import target_of
from onnxsmith.core.value import Value
from onnxsmith.errors import DTypeNotAllowedError, MixedDTypesError
from onnxsmith.schema.promote import is_literal, literal_array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def operators_for(*values: Any) -> Operators:
    """The operators that Python's syntax on these values is made of."""
    return target_of(values).operators


def dtype_of(*values: Any) -> DType | None:
    """The element type that an operation on these values has, or None when it is not known yet."""
    for value in values:
        if isinstance(value, Value):
            kind = value.known.type
            if isinstance(kind, TensorType) and kind.dtype is not None:
                return kind.dtype
        elif isinstance(value, np.ndarray):
            return DType.from_numpy(value.dtype)  # pyright: ignore[reportUnknownArgumentType]
    return None


def _pair(op: Operators, a: Any, b: Any) -> tuple[Any, Any]:
    """Both sides of an operator that needs several nodes: a literal is converted once, to the other side's type."""
    dtype = dtype_of(a, b)
    if dtype is None:
        return a, b
    if is_literal(a):
        a = literal_array(op.Add.definition, 0, a, dtype)
    elif is_literal(b):
        b = literal_array(op.Add.definition, 1, b, dtype)
    return a, b


def _known_sign(value: Any) -> int | None:
    """1 or -1 for a literal (or the array made of one) that is never zero and has one sign; None otherwise."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":  # pyright: ignore[reportUnknownMemberType]
        if (value > 0).all():
            return 1
        if (value < 0).all():
            return -1
    return None


def add(a: Any, b: Any) -> Any:
    """`a + b`"""
    return operators_for(a, b).Add(a, b)


def subtract(a: Any, b: Any) -> Any:
    """`a - b`"""
    return operators_for(a, b).Sub(a, b)


def multiply(a: Any, b: Any) -> Any:
    """`a * b`"""
    return operators_for(a, b).Mul(a, b)


def divide(a: Any, b: Any) -> Any:
    """`a / b`, ONNX's: integers truncate."""
    return operators_for(a, b).Div(a, b)


def matmul(a: Any, b: Any) -> Any:
    """`a @ b`"""
    return operators_for(a, b).MatMul(a, b)


def power(a: Any, b: Any) -> Any:
    """`a ** b`. ONNX lets the exponent have a type of its own; Python's operator keeps to one."""
    op = operators_for(a, b)
    left, right = dtype_of(a), dtype_of(b)
    if left is not None and right is not None and left is not right:
        raise MixedDTypesError(
            f"** needs one element type, got {left.spelling} and {right.spelling}",
            help="convert one of them with x.astype(…), or call op.Pow, which allows two",
        )
    return op.Pow(*_pair(op, a, b))


def floor_divide(a: Any, b: Any) -> Any:
    """`a // b`, rounding towards minus infinity on every type, with numpy's answers near the rounding limits."""
    op = operators_for(a, b)
    dtype = dtype_of(a, b)
    a, b = _pair(op, a, b)
    if dtype is not None and dtype.kind == "unsigned":
        return op.Div(a, b)
    if dtype is not None and dtype.is_integer:
        remainder = op.Mod(a, b)
        rounds_down = op.And(op.Not(op.Equal(remainder, 0)), _signs_differ(op, a, b))
        return op.Sub(op.Div(a, b), op.Cast(rounds_down, to=dtype))
    # numpy's algorithm: the quotient of what divides evenly, so that 1.0 // 0.1 is 9 and not floor(10.0).
    remainder = op.Mod(a, b, fmod=1)
    quotient = op.Div(op.Sub(a, remainder), b)
    rounds_down = op.And(op.Not(op.Equal(remainder, 0)), _signs_differ(op, remainder, b))
    if dtype is None:
        return op.Sub(quotient, op.CastLike(rounds_down, quotient))
    result = op.Round(op.Sub(quotient, op.Cast(rounds_down, to=dtype)))
    return result if _known_sign(b) else op.Where(op.Equal(b, 0.0), op.Div(a, b), result)


def remainder(a: Any, b: Any) -> Any:
    """`a % b`, with the sign of `b`."""
    op = operators_for(a, b)
    dtype = dtype_of(a, b)
    a, b = _pair(op, a, b)
    if dtype is not None and dtype.is_integer:
        return op.Mod(a, b)
    rest = op.Mod(a, b, fmod=1)
    if _known_sign(b) == 1:
        return op.Where(op.Less(rest, 0), op.Add(rest, b), rest)
    wrong_sign = op.And(op.Not(op.Equal(rest, 0)), _signs_differ(op, rest, b))
    return op.Where(wrong_sign, op.Add(rest, b), rest)


def _signs_differ(op: Operators, a: Any, b: Any) -> Any:
    sign = _known_sign(b)
    if sign is not None:
        return op.Less(a, 0) if sign == 1 else op.Greater(a, 0)
    return op.Xor(op.Less(a, 0), op.Less(b, 0))


def negate(a: Any) -> Any:
    """`-a`; unsigned integers wrap, as numpy's do."""
    op, dtype = operators_for(a), dtype_of(a)
    return op.Sub(0, a) if dtype is not None and dtype.kind == "unsigned" else op.Neg(a)


def absolute(a: Any) -> Any:
    """`abs(a)`"""
    return operators_for(a).Abs(a)


def round_half_even(a: Any, digits: int | None = None) -> Any:
    """`round(a)` and `round(a, digits)`, to even at the half, as Python and numpy do; integers stay as they are."""
    op, dtype = operators_for(a), dtype_of(a)
    if dtype is not None and dtype.is_integer and (digits or 0) >= 0:
        return a
    if not digits:
        return op.Round(a)
    scale = 10.0 ** abs(digits)
    if digits > 0:
        return op.Div(op.Round(op.Mul(a, scale)), scale)
    return op.Mul(op.Round(op.Div(a, scale)), scale)


def equal(a: Any, b: Any) -> Any:
    """`a == b`"""
    return operators_for(a, b).Equal(a, b)


def not_equal(a: Any, b: Any) -> Any:
    """`a != b`"""
    op = operators_for(a, b)
    return op.Not(op.Equal(a, b))


def less(a: Any, b: Any) -> Any:
    """`a < b`"""
    return operators_for(a, b).Less(a, b)


def less_equal(a: Any, b: Any) -> Any:
    """`a <= b`"""
    op = operators_for(a, b)
    if op.has("LessOrEqual"):
        return op.LessOrEqual(a, b)
    return op.Or(op.Less(a, b), op.Equal(a, b))


def greater(a: Any, b: Any) -> Any:
    """`a > b`"""
    return operators_for(a, b).Greater(a, b)


def greater_equal(a: Any, b: Any) -> Any:
    """`a >= b`"""
    op = operators_for(a, b)
    if op.has("GreaterOrEqual"):
        return op.GreaterOrEqual(a, b)
    return op.Or(op.Greater(a, b), op.Equal(a, b))


def _logical_or_bitwise(symbol: str, logical: str, bitwise: str, a: Any, b: Any) -> Any:
    op, dtype = operators_for(a, b), dtype_of(a, b)
    if dtype is DType.BOOL or (dtype is None and (isinstance(a, bool) or isinstance(b, bool))):
        return getattr(op, logical)(a, b)
    if dtype is not None and not dtype.is_integer:
        raise DTypeNotAllowedError(
            f"'{symbol}' is for bool and integer tensors, not {dtype.spelling}",
            help="compare first, as in (x > 0) & (y > 0)",
        )
    if dtype is None:
        raise DTypeNotAllowedError(
            f"'{symbol}' means {logical} on bool and {bitwise} on integers, and the element type is not known here",
            help=f"annotate the parameter, or call op.{logical} or op.{bitwise}",
        )
    return getattr(op, bitwise)(a, b)


def bitwise_and(a: Any, b: Any) -> Any:
    """`a & b`"""
    return _logical_or_bitwise("&", "And", "BitwiseAnd", a, b)


def bitwise_or(a: Any, b: Any) -> Any:
    """`a | b`"""
    return _logical_or_bitwise("|", "Or", "BitwiseOr", a, b)


def bitwise_xor(a: Any, b: Any) -> Any:
    """`a ^ b`"""
    return _logical_or_bitwise("^", "Xor", "BitwiseXor", a, b)


def invert(a: Any) -> Any:
    """`~a`"""
    op, dtype = operators_for(a), dtype_of(a)
    if dtype is not None and dtype.is_integer:
        return op.BitwiseNot(a)
    if dtype is not None and dtype is not DType.BOOL:
        raise DTypeNotAllowedError(f"'~' is for bool and integer tensors, not {dtype.spelling}")
    return op.Not(a)


_UNSIGNED = {
    DType.INT8: DType.UINT8,
    DType.INT16: DType.UINT16,
    DType.INT32: DType.UINT32,
    DType.INT64: DType.UINT64,
}


def _shift(symbol: str, direction: str, a: Any, b: Any) -> Any:
    op, dtype = operators_for(a, b), dtype_of(a, b)
    if dtype is None or not dtype.is_integer or dtype.bits < 8:
        word = "a tensor of unknown element type" if dtype is None else dtype.spelling
        raise DTypeNotAllowedError(f"'{symbol}' is for tensors of 8 to 64 bit integers, not {word}")
    a, b = _pair(op, a, b)
    # ONNX shifts unsigned integers only, and leaves shifts by the whole width or more open; numpy's answer is
    # what remains when all bits are gone.
    if isinstance(b, np.ndarray) and ((b >= 0) & (b < dtype.bits)).all():
        too_far = None
    else:
        too_far = op.GreaterOrEqual(b, np.array(dtype.bits, dtype.numpy))
        b = op.Where(too_far, np.array(0, dtype.numpy), b)
    zero = np.array(0, dtype.numpy)
    if dtype.kind == "unsigned":
        shifted = op.BitShift(a, b, direction=direction)
        return shifted if too_far is None else op.Where(too_far, zero, shifted)
    unsigned = _UNSIGNED[dtype]
    amount = op.Cast(b, to=unsigned)
    if direction == "LEFT":
        shifted = op.Cast(op.BitShift(op.Cast(a, to=unsigned), amount, direction=direction), to=dtype)
        return shifted if too_far is None else op.Where(too_far, zero, shifted)
    # An arithmetic shift of a negative number: shift the complement and complement again.
    negative = op.Less(a, zero)
    bits = op.Where(negative, op.BitwiseNot(a), a)
    shifted = op.Cast(op.BitShift(op.Cast(bits, to=unsigned), amount, direction=direction), to=dtype)
    if too_far is not None:
        shifted = op.Where(too_far, zero, shifted)
    return op.Where(negative, op.BitwiseNot(shifted), shifted)


def shift_left(a: Any, b: Any) -> Any:
    """`a << b`"""
    return _shift("<<", "LEFT", a, b)


def shift_right(a: Any, b: Any) -> Any:
    """`a >> b`"""
    return _shift(">>", "RIGHT", a, b)
