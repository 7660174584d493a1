# pyright: basic
"""Operators on whole numbers: bits, shifts, common divisors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import axes_of, cast, constant, promoted, rank_of
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


# -- powers --------------------------------------------------------------------------------------------


def integer_power(call: Call, x: Any, y: Any) -> Any:
    """Integers to the power of integers by squaring, which wraps around as torch's does; `Pow` goes through doubles."""
    x, y = (each if isinstance(each, Value) else constant(each) for each in promoted(call, x, y))
    if any(isinstance(each, int) and each == 0 for each in call.output_shape()):
        return op.Add(x, y)
    zero, one, two = (cast(each, call.dtype) for each in (0, 1, 2))
    shape = op.Shape(op.Add(x, y))
    bases, exponents = op.Expand(x, shape), op.Expand(op.Max(y, zero), shape)

    def body(i: Any, keep: Any, base: Any, exponent: Any, result: Any) -> Any:
        is_odd = op.Equal(op.Mod(exponent, two), one)
        result = op.Where(is_odd, op.Mul(result, base), result)
        exponent = op.Div(exponent, two)
        return _has_any(exponent), op.Mul(base, base), exponent, result

    start = op.Expand(one, shape)
    result = op.Loop(None, _has_any(exponents), bases, exponents, start, body=body, outputs=3)[2]
    if call.dtype in (DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64):
        return result
    # A fraction of one is cut to zero; only one and its negative have whole inverses.
    sign = op.Where(op.Equal(op.Mod(y, two), zero), one, cast(-1, call.dtype))
    inverse = op.Where(op.Equal(x, cast(-1, call.dtype)), sign, cast(op.Equal(x, one), call.dtype))
    return op.Where(op.Less(y, zero), inverse, result)


# -- hashes --------------------------------------------------------------------------------------------


@translates("aten.hash_tensor.default")
def hash_tensor(call: Call, x: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    """All elements' bits, as those of a double or a long, combined by an exclusive or."""
    if x.dtype.is_float and not op.has("BitCast"):
        raise call.refuse("the bits of floats, which only opset 26 and later can read")
    if x.dtype.is_float:
        bits = op.BitCast(cast(x, DType.DOUBLE), to=DType.UINT64)
    else:
        bits = cast(cast(x, DType.INT64), DType.UINT64)
    rank = rank_of(x)
    if rank == 0:
        return bits
    order = np.arange(64, dtype=np.uint64)
    single = op.BitShift(op.Unsqueeze(bits, [rank]), order, direction="RIGHT")
    single = cast(op.BitwiseAnd(single, np.uint64(1)), DType.INT64)
    # A bit of the result is set where an odd number of elements has it.
    total = op.ReduceSum(single, axes_of(dim, rank), keepdims=int(keepdim))
    # In two halves, each of which a long holds without its sign.
    valued = op.Mul(op.Mod(total, np.int64(2)), np.tile(2 ** np.arange(32), 2))
    last = rank_of(valued) - 1
    low, high = (
        cast(op.ReduceSum(op.Slice(valued, [k], [k + 32], [last]), [last], keepdims=0), DType.UINT64)
        for k in (0, 32)
    )
    return op.BitwiseOr(op.BitShift(high, np.uint64(32), direction="LEFT"), low)
