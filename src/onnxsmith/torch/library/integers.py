# pyright: basic
"""Operators on whole numbers: bits, shifts, common divisors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, promoted
from onnxsmith.types.dtypes import DType

#: Operators on bits; on truth values the logical ones.
BITWISE = {
    f"aten.{name}.{kind}": operators
    for names, operators in (
        (("bitwise_and", "__and__"), ("BitwiseAnd", "And")),
        (("bitwise_or", "__or__"), ("BitwiseOr", "Or")),
        (("bitwise_xor", "__xor__"), ("BitwiseXor", "Xor")),
    )
    for name in names
    for kind in ("Tensor", "Scalar", *(("Scalar_Tensor",) if not name.startswith("_") else ()))
}


@translates(*BITWISE)
def bitwise(call: Call, x: Any, y: Any) -> Any:
    on_bits, on_truth = BITWISE[call.overload]
    return getattr(op, on_truth if call.dtype is DType.BOOL else on_bits)(*promoted(call, x, y))


@translates("aten.bitwise_not.default", "prims.bitwise_not.default")
def bitwise_not(call: Call, x: Any) -> Any:
    return op.Not(x) if call.dtype is DType.BOOL else op.BitwiseNot(x)


# -- shifts --------------------------------------------------------------------------------------------

_LEFT, _RIGHT = (
    (
        f"aten.bitwise_{side}_shift.Tensor",
        f"aten.bitwise_{side}_shift.Tensor_Scalar",
        f"aten.bitwise_{side}_shift.Scalar_Tensor",
        f"aten.__{side[0]}shift__.Tensor",
        f"aten.__{side[0]}shift__.Scalar",
    )
    for side in ("left", "right")
)


def _distance(call: Call, y: Any) -> tuple[Any, Any]:
    """By how many bits to shift, and whether there are that many."""
    y = cast(y, DType.INT64)
    y = y if isinstance(y, Value) else constant(y)
    bits = np.dtype(call.dtype.numpy).itemsize * 8
    fits = op.And(op.GreaterOrEqual(y, np.int64(0)), op.Less(y, np.int64(bits)))
    return cast(op.Where(fits, y, np.int64(bits - 1)), DType.UINT64), fits


@translates(*_LEFT, "prims.shift_left.default")
def shift_left(call: Call, x: Any, y: Any) -> Any:
    distance, fits = _distance(call, y)
    shifted = op.BitShift(_unsigned(cast(x, call.dtype)), distance, direction="LEFT")
    return op.Where(fits, cast(shifted, call.dtype), cast(0, call.dtype))


def _unsigned(x: Any) -> Any:
    x = x if isinstance(x, Value) else constant(x)
    return cast(cast(x, DType.INT64), DType.UINT64)


@translates(*_RIGHT, "prims.shift_right_arithmetic.default")
def shift_right(call: Call, x: Any, y: Any) -> Any:
    """With the sign shifted in; a distance beyond the last bit leaves the sign only."""
    distance, _ = _distance(call, y)
    x = cast(x, call.dtype)
    x = cast(x if isinstance(x, Value) else constant(x), DType.INT64)
    is_negative = op.Less(x, np.int64(0))
    # The bits of a negative number are those of what lies below zero, turned over.
    size = op.Where(is_negative, op.BitwiseNot(x), x)
    shifted = cast(op.BitShift(cast(size, DType.UINT64), distance, direction="RIGHT"), DType.INT64)
    return cast(op.Where(is_negative, op.BitwiseNot(shifted), shifted), call.dtype)


# -- divisors ------------------------------------------------------------------------------------------


def _common_divisor(call: Call, x: Any, y: Any) -> Any:
    """Euclid's algorithm on all elements at once, until the last is done."""
    if any(isinstance(each, int) and each == 0 for each in call.output_shape()):
        return op.Add(x, y)
    x, y = op.Abs(x), op.Abs(y)
    shape = op.Shape(op.Add(x, y))
    zero = np.zeros((), x.dtype.numpy)

    def body(i: Any, keep: Any, a: Any, b: Any) -> Any:
        is_done = op.Equal(a, zero)
        rest = op.Mod(b, op.Where(is_done, np.ones((), x.dtype.numpy), a))
        a, b = op.Where(is_done, a, rest), op.Where(is_done, b, a)
        return _has_any(a), a, b

    x = op.Expand(x, shape)
    _, result = op.Loop(None, _has_any(x), x, op.Expand(y, shape), body=body, outputs=2)
    return result


def _has_any(x: Any) -> Any:
    """Whether an element is not zero; False of nothing."""
    flat = cast(op.Reshape(x, [-1]), DType.INT64)
    # Not a sum, which could be zero for elements that are not.
    return cast(
        op.ReduceMax(op.Abs(op.Concat(flat, np.zeros(1, np.int64), axis=0)), [0], keepdims=0), DType.BOOL
    )


@translates("aten.gcd.default", "prims.gcd.default")
def gcd(call: Call, x: Any, y: Any) -> Any:
    return _common_divisor(call, *promoted(call, x, y))


@translates("aten.lcm.default")
def lcm(call: Call, x: Any, y: Any) -> Any:
    # C computes with bytes and shorts as with ints, and cuts the result.
    dtype = DType.INT64 if call.dtype is DType.INT64 else DType.INT32
    x, y = cast(x, dtype), cast(y, dtype)
    divisor = _common_divisor(call, x, y)
    is_zero = op.Equal(divisor, cast(0, dtype))
    return op.Abs(op.Mul(op.Div(x, op.Where(is_zero, cast(1, dtype), divisor)), y))
