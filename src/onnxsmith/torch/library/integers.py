"""Operators on whole numbers: bits, shifts, common divisors."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import integers
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, as_tensor, converted, dtype_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import tensors
from onnxsmith.types.dtypes import DType

#: Operators on bits.
BITWISE = {
    f"aten.{name}.{kind}": function
    for names, function in (
        (("bitwise_and", "__and__"), integers.bitwise_and),
        (("bitwise_or", "__or__"), integers.bitwise_or),
        (("bitwise_xor", "__xor__"), integers.bitwise_xor),
    )
    for name in names
    for kind in ("Tensor", "Scalar", *(("Scalar_Tensor",) if not name.startswith("_") else ()))
}


@translates(*BITWISE)
def bitwise(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return BITWISE[call.overload](*tensors(call, x, y))


@translates("aten.bitwise_not.default", "prims.bitwise_not.default")
def bitwise_not(call: Call, x: Tensor) -> Tensor:
    return integers.bitwise_not(x)


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


@translates(*_LEFT, "prims.shift_left.default")
def shift_left(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return integers.shift_left(as_tensor(x, call.dtype), as_tensor(y, DType.INT64))


@translates(*_RIGHT, "prims.shift_right_arithmetic.default")
def shift_right(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return integers.shift_right(as_tensor(x, call.dtype), as_tensor(y, DType.INT64))


@translates("aten.gcd.default", "prims.gcd.default")
def gcd(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return integers.gcd(*tensors(call, x, y))


@translates("aten.lcm.default")
def lcm(call: Call, x: Numeric, y: Numeric) -> Tensor:
    # C computes with bytes and shorts as with ints, and cuts the result.
    dtype = DType.INT64 if call.dtype is DType.INT64 else DType.INT32
    return abs(integers.lcm(as_tensor(x, dtype), as_tensor(y, dtype)))


@translates("aten.hash_tensor.default")
def hash_tensor(
    call: Call, x: Tensor, dim: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0
) -> Tensor:
    """All elements' bits, as those of a double or a long, combined by an exclusive or."""
    is_float = dtype_of(x).is_float
    if is_float and not op.has("BitCast"):
        raise call.refuse("the bits of floats, which only opset 26 and later can read")
    if is_float:
        bits = op.BitCast(converted(x, DType.DOUBLE), to=DType.UINT64)
    else:
        bits = converted(converted(x, DType.INT64), DType.UINT64)
    return integers.reduced_by_xor(bits, dim, keepdim)
