"""Bits of integers, and logic on booleans."""

from onnxsmith import BOOL, INT32, UINT8
from onnxsmith import opset21 as op


def bits(a: UINT8, b: UINT8) -> UINT8:
    return (a & b | a ^ 0x0F) << 1 >> b | ~a & 1


def signed(a: INT32) -> INT32:
    return (a & 255) ^ (1 << a)


def logic(p: BOOL, q: BOOL) -> BOOL:
    return p & q | ~p ^ True


def operators(p: BOOL, q: BOOL, a: UINT8) -> tuple[BOOL, UINT8, UINT8]:
    return op.And(p, op.Not(q)), op.BitwiseXor(a, a), op.BitShift(a, a, direction="LEFT")


print(bits, signed, logic, operators)
