"""`& | ^ ~ << >>` on tensors: logical on bool, bitwise on integers; shifts are numpy's on every width."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.operands import dtype_of, is_array, operators_for
from onnxsmith.core.semantics.division import floor_divide
from onnxsmith.core.semantics.operand_pairs import as_pair, check_one_dtype
from onnxsmith.core.value import Array, Operand, TensorValue
from onnxsmith.errors import DTypeNotAllowedError
from onnxsmith.types.dtypes import DType


def _logical_or_bitwise(symbol: str, logical: str, bitwise: str, *operands: Operand) -> TensorValue:
    op, dtype = operators_for(*operands), dtype_of(*operands)
    if dtype is DType.BOOL or (dtype is None and any(isinstance(each, bool) for each in operands)):
        return getattr(op, logical)(*operands)
    if dtype is not None and not dtype.is_integer:
        raise DTypeNotAllowedError(
            f"'{symbol}' is for bool and integer tensors, not {dtype.spelling}",
            help="compare first, as in (x > 0) & (y > 0)",
        )
    if dtype is None:
        raise DTypeNotAllowedError(
            f"'{symbol}' means {logical} on bool and {bitwise} on integers, and the element type is not known here",
            help=f"annotate the parameter, or call op.{logical} or op.{bitwise}",
            needs_values=True,
        )
    return getattr(op, bitwise)(*operands)


def bitwise_and(a: Operand, b: Operand) -> TensorValue:
    """`a & b`"""
    return _logical_or_bitwise("&", "And", "BitwiseAnd", a, b)


def bitwise_or(a: Operand, b: Operand) -> TensorValue:
    """`a | b`"""
    return _logical_or_bitwise("|", "Or", "BitwiseOr", a, b)


def bitwise_xor(a: Operand, b: Operand) -> TensorValue:
    """`a ^ b`"""
    return _logical_or_bitwise("^", "Xor", "BitwiseXor", a, b)


def invert(a: Operand) -> TensorValue:
    """`~a`"""
    return _logical_or_bitwise("~", "Not", "BitwiseNot", a)


#: ONNX shifts unsigned integers only, and ONNX Runtime none of 16 bits.
_SHIFTED_AS = {8: DType.UINT8, 16: DType.UINT32, 32: DType.UINT32, 64: DType.UINT64}


def shift_left(a: Operand, b: Operand) -> TensorValue:
    """`a << b`"""
    dtype, a, b = _prepare_shift("<<", a, b)
    if is_array(b) and dtype.kind == "signed" and _is_in_range(b, dtype):
        factor = np.left_shift(np.array(1, dtype.numpy), b)
        return operators_for(a).Mul(a, factor)
    return _shift("LEFT", dtype, a, b)


def shift_right(a: Operand, b: Operand) -> TensorValue:
    """`a >> b`; a negative number stays negative."""
    dtype, a, b = _prepare_shift(">>", a, b)
    if dtype.kind == "unsigned":
        return _shift("RIGHT", dtype, a, b)
    if is_array(b) and _is_in_range(b, dtype) and (b < dtype.bits - 1).all():
        return floor_divide(a, np.left_shift(np.array(1, dtype.numpy), b))
    # Shift the complement of a negative number and complement again: -1 is all ones, 0 changes nothing.
    op = operators_for(a, b)
    ones = op.Neg(op.Cast(op.Less(a, np.array(0, dtype.numpy)), to=dtype))
    return op.BitwiseXor(_shift("RIGHT", dtype, op.BitwiseXor(a, ones), b), ones)


def _prepare_shift(symbol: str, a: Operand, b: Operand) -> tuple[DType, Operand, Operand]:
    dtype = dtype_of(a, b)
    if dtype is None or not dtype.is_integer or dtype.bits < 8:
        word = "a tensor of unknown element type" if dtype is None else dtype.spelling
        raise DTypeNotAllowedError(f"'{symbol}' is for tensors of 8 to 64 bit integers, not {word}")
    a, b = as_pair(operators_for(a, b), a, b, "BitShift")
    check_one_dtype(symbol, a, b)
    return dtype, a, b


def _is_in_range(amount: Array, dtype: DType) -> bool:
    return bool(((amount >= 0) & (amount < dtype.bits)).all())


def _shift(direction: str, dtype: DType, a: Operand, b: Operand) -> TensorValue:
    """Bits moved as in an unsigned integer; a shift by the whole width or more, or by less than 0, leaves 0."""
    op = operators_for(a, b)
    unsigned = _SHIFTED_AS[dtype.bits]
    is_checked = is_array(b) and _is_in_range(b, dtype)
    if unsigned is not dtype:
        a = a.astype(unsigned.numpy) if is_array(a) else op.Cast(a, to=unsigned)
        b = b.astype(unsigned.numpy) if is_array(b) else op.Cast(b, to=unsigned)
    if is_checked:
        shifted = op.BitShift(a, b, direction=direction)
    else:
        # ONNX leaves open what a shift by the whole width gives, so it is not asked for.
        width = np.array(dtype.bits, unsigned.numpy)
        shifted = op.BitShift(a, op.Min(b, width - np.array(1, unsigned.numpy)), direction=direction)
        shifted = op.Mul(shifted, op.Cast(op.Less(b, width), to=unsigned))
    return shifted if unsigned is dtype else op.Cast(shifted, to=dtype)
