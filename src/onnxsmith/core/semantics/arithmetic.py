"""Python's arithmetic and comparisons on tensors, each operator defined once, eagerly and in a graph.

The meaning is Python's and numpy's wherever they define one; the exceptions are ONNX's (`/` truncates on integers,
element types do not mix) and stand in the language reference. `//` and `%` are in `division`, bits in `bits`.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.core.operands import dtype_of, operators_for, rank_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics.division import divide_with_remainder as divide_with_remainder
from onnxsmith.core.semantics.division import floor_divide as floor_divide
from onnxsmith.core.semantics.division import remainder as remainder
from onnxsmith.core.semantics.operand_pairs import as_pair, check_one_dtype
from onnxsmith.core.value import Operand, TensorValue
from onnxsmith.errors import LiteralError, ShapeError
from onnxsmith.schema.promote import integer_range, largest_float
from onnxsmith.types.dtypes import DType


def add(a: Operand, b: Operand) -> TensorValue:
    """`a + b`; strings are joined."""
    op = operators_for(a, b)
    return op.StringConcat(a, b) if dtype_of(a, b) is DType.STRING else op.Add(a, b)


def subtract(a: Operand, b: Operand) -> TensorValue:
    """`a - b`"""
    return operators_for(a, b).Sub(a, b)


def multiply(a: Operand, b: Operand) -> TensorValue:
    """`a * b`"""
    return operators_for(a, b).Mul(a, b)


def divide(a: Operand, b: Operand) -> TensorValue:
    """`a / b`, ONNX's: integers truncate."""
    return operators_for(a, b).Div(a, b)


def matmul(a: Operand, b: Operand) -> TensorValue:
    """`a @ b`; what ONNX does not multiply (bool, small integers) goes by way of int32, which wraps the same."""
    op = operators_for(a, b)
    dtype = dtype_of(a, b)
    if rank_of(a) == 0 or rank_of(b) == 0:
        raise ShapeError(
            "'@' needs tensors of at least one dimension, not a scalar", help="multiply with '*'"
        )
    if dtype is None or (dtype is not DType.BOOL and (not dtype.is_integer or dtype.bits > 16)):
        return op.MatMul(a, b)
    a, b = as_pair(op, a, b, "MatMul")
    check_one_dtype("@", a, b)
    product = op.MatMul(op.Cast(a, to=DType.INT32), op.Cast(b, to=DType.INT32))
    return op.Cast(product, to=dtype)


# -- powers --------------------------------------------------------------------------------------------

#: ONNX raises these to a power; smaller integers go by way of int64.
_POWERS = (DType.INT32, DType.INT64)


def power(a: Operand, b: Operand) -> TensorValue:
    """`a ** b`, exact on integers where the exponent is a literal.

    ONNX lets the exponent have a type of its own; Python's operator keeps to one.
    """
    op = operators_for(a, b)
    exponent = _literal_exponent(b)
    a, b = as_pair(op, a, b, "Pow")
    dtype = dtype_of(a, b)
    check_one_dtype("**", a, b, ", or call op.Pow, which allows two")
    if dtype is None or not dtype.is_integer:
        return op.Pow(a, b)
    if exponent is not None:
        if exponent < 0:
            raise LiteralError(
                f"integers to a negative power are no integers: {dtype.spelling} ** {exponent}",
                help=f"convert the tensor first: x.astype(FLOAT) ** {exponent}",
            )
        return _repeated_product(op, cast(TensorValue, a), exponent, dtype)  # the other side is a number
    if dtype in _POWERS:
        return op.Pow(a, b)
    wide = op.Pow(op.Cast(a, to=DType.INT64), op.Cast(b, to=DType.INT64))
    return op.Cast(wide, to=dtype)


def _literal_exponent(value: Operand) -> int | None:
    # numpy counts its spans of time among the integers.
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    return int(cast(int, value)) if is_integer else None


def _repeated_product(op: StandardOperators, base: TensorValue, exponent: int, dtype: DType) -> TensorValue:
    """Squares and products: runtimes compute Pow of integers in double precision, which loses digits past 2**53."""
    if exponent == 0:
        one = np.array(1, dtype.numpy)
        return op.Add(op.Mul(base, np.array(0, dtype.numpy)), one)
    result: TensorValue | None = None
    while True:
        if exponent & 1:
            result = base if result is None else op.Mul(result, base)
        exponent >>= 1
        if not exponent and result is not None:
            return result
        base = op.Mul(base, base)


# -- one operand ---------------------------------------------------------------------------------------


def negate(a: TensorValue) -> TensorValue:
    """`-a`; unsigned integers wrap, as numpy's do."""
    op, dtype = operators_for(a), dtype_of(a)
    return op.Sub(0, a) if dtype is not None and dtype.kind == "unsigned" else op.Neg(a)


def absolute(a: TensorValue) -> TensorValue:
    """`abs(a)`"""
    dtype = dtype_of(a)
    return a if dtype is DType.BOOL else operators_for(a).Abs(a)


def round_half_even(a: TensorValue, digits: int | None = None) -> TensorValue:
    """`round(a)` and `round(a, digits)`, to even at the half, as Python and numpy do; integers stay integers."""
    op, dtype = operators_for(a), dtype_of(a)
    digits = 0 if digits is None else digits.__index__()
    if dtype is not None and dtype.is_integer:
        return a if digits >= 0 else _round_integers(op, a, -digits, dtype)
    if digits == 0:
        return op.Round(a)
    scale = 10.0 ** abs(digits)
    if dtype is not None and scale > largest_float(dtype):
        # No number of this type has so many digits after the point, or before it.
        return a if digits > 0 else op.Mul(a, 0.0)
    if digits > 0:
        return op.Div(op.Round(op.Mul(a, scale)), scale)
    return op.Mul(op.Round(op.Div(a, scale)), scale)


def _round_integers(op: StandardOperators, a: TensorValue, digits: int, dtype: DType) -> TensorValue:
    """To tens, hundreds and so on, by way of double precision, as numpy does."""
    if 10**digits > 2 * integer_range(dtype)[1]:
        return op.Mul(a, 0)
    scale = np.array(10.0**digits)
    rounded = op.Mul(op.Round(op.Div(op.Cast(a, to=DType.DOUBLE), scale)), scale)
    return op.Cast(rounded, to=dtype)


# -- comparisons ---------------------------------------------------------------------------------------


def equal(a: Operand, b: Operand) -> TensorValue:
    """`a == b`"""
    return operators_for(a, b).Equal(a, b)


def not_equal(a: Operand, b: Operand) -> TensorValue:
    """`a != b`"""
    op = operators_for(a, b)
    return op.Not(op.Equal(a, b))


def less(a: Operand, b: Operand) -> TensorValue:
    """`a < b`"""
    op = operators_for(a, b)
    if dtype_of(a, b) is DType.BOOL:  # ONNX orders numbers only
        a, b = as_pair(op, a, b, "And")
        return op.And(op.Not(a), b)
    return op.Less(a, b)


def less_equal(a: Operand, b: Operand) -> TensorValue:
    """`a <= b`"""
    op = operators_for(a, b)
    if dtype_of(a, b) is DType.BOOL:
        a, b = as_pair(op, a, b, "Or")
        return op.Or(op.Not(a), b)
    if op.has("LessOrEqual"):
        return op.LessOrEqual(a, b)
    return op.Or(op.Less(a, b), op.Equal(a, b))


def greater(a: Operand, b: Operand) -> TensorValue:
    """`a > b`"""
    return less(b, a) if dtype_of(a, b) is DType.BOOL else operators_for(a, b).Greater(a, b)


def greater_equal(a: Operand, b: Operand) -> TensorValue:
    """`a >= b`"""
    if dtype_of(a, b) is DType.BOOL:
        return less_equal(b, a)
    op = operators_for(a, b)
    if op.has("GreaterOrEqual"):
        return op.GreaterOrEqual(a, b)
    return op.Or(op.Greater(a, b), op.Equal(a, b))
