# pyright: basic
"""Arithmetic and functions of one element: what has the same shape as its operands, broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.algorithms import floating_point, integers
from onnxsmith.algorithms.special import circular, double, error_functions
from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, promoted, tensors
from onnxsmith.types.dtypes import DType

#: Functions of floats that ONNX has under another name; ints are made floats first, as the result says.
FLOAT_FUNCTIONS = {
    "aten.acos.default": "Acos",
    "aten.acosh.default": "Acosh",
    "aten.asin.default": "Asin",
    "aten.asinh.default": "Asinh",
    "aten.atan.default": "Atan",
    "aten.atanh.default": "Atanh",
    "aten.cos.default": "Cos",
    "aten.cosh.default": "Cosh",
    "aten.erf.default": "Erf",
    "aten.exp.default": "Exp",
    "aten.log.default": "Log",
    "aten.reciprocal.default": "Reciprocal",
    "aten.sin.default": "Sin",
    "aten.sinh.default": "Sinh",
    "aten.sqrt.default": "Sqrt",
    "aten.tan.default": "Tan",
    "aten.tanh.default": "Tanh",
}
#: Functions that leave whole numbers as they are.
ROUNDINGS = {
    "aten.ceil.default": "Ceil",
    "aten.floor.default": "Floor",
    "aten.round.default": "Round",
}


#: Those that ONNX Runtime has for single precision only.
IN_DOUBLE = {
    "Acos": circular.acos,
    "Acosh": circular.acosh,
    "Asin": circular.asin,
    "Asinh": circular.asinh,
    "Atan": circular.atan,
    "Atanh": circular.atanh,
    "Cosh": circular.cosh,
    "Erf": error_functions.erf,
    "Sinh": circular.sinh,
    "Tan": circular.tan,
}


@translates(*FLOAT_FUNCTIONS)
def float_function(call: Call, x: Any) -> Any:
    name = FLOAT_FUNCTIONS[call.overload]
    if call.dtype is DType.DOUBLE and name in IN_DOUBLE:
        return IN_DOUBLE[name](cast(x, call.dtype))
    return getattr(op, name)(cast(x, call.dtype))


def computed(call: Call, x: Any) -> Any:
    """An operand in the precision that a formula of several steps needs: halves are too short for it."""
    return cast(x, DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype)


@translates(*ROUNDINGS)
def rounding(call: Call, x: Any) -> Any:
    return getattr(op, ROUNDINGS[call.overload])(x) if call.dtype.is_float else x


@translates("aten.trunc.default", "aten.fix.default", "prims.trunc.default")
def trunc(call: Call, x: Any) -> Any:
    return floating_point.trunc(x)


def _scaled(call: Call, x: Any, alpha: Any) -> Any:
    """An operand times `alpha`, in the element type of the result."""
    x = cast(x, call.dtype)
    return x if isinstance(alpha, int | float) and alpha == 1 else op.Mul(x, cast(alpha, call.dtype))


@translates("aten.add.Tensor", "aten.add.Scalar")
def add(call: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    if call.dtype is DType.BOOL:
        y = cast(y, DType.BOOL)
        is_scaled = not (isinstance(alpha, int | float) and alpha)
        return op.Or(cast(x, DType.BOOL), op.And(y, cast(alpha, DType.BOOL)) if is_scaled else y)
    return op.Add(cast(x, call.dtype), _scaled(call, y, alpha))


@translates("aten.sub.Tensor", "aten.sub.Scalar")
def sub(call: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    return op.Sub(cast(x, call.dtype), _scaled(call, y, alpha))


@translates("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(call: Call, x: Any, y: Any, alpha: Any = 1) -> Any:
    return op.Sub(cast(y, call.dtype), _scaled(call, x, alpha))


@translates("aten.mul.Tensor", "aten.mul.Scalar")
def mul(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    return op.And(x, y) if call.dtype is DType.BOOL else op.Mul(x, y)


@translates("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(call: Call, x: Any, y: Any) -> Any:
    return op.Div(*promoted(call, x, y))


@translates("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(call: Call, x: Any, y: Any, *, rounding_mode: str | None = None) -> Any:
    x, y = promoted(call, x, y)
    if rounding_mode is None:
        return op.Div(x, y)
    if call.dtype.is_float:
        if rounding_mode == "floor":
            return floating_point.floor_divide(*(_as_tensor(computed(call, each)) for each in (x, y)))
        return trunc(call, op.Div(x, y))
    return integers.floor_divide(*tensors(call, x, y)) if rounding_mode == "floor" else op.Div(x, y)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, Value) else constant(value)


@translates("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(call: Call, x: Any, y: Any) -> Any:
    return div_mode(call, x, y, rounding_mode="floor")


@translates(
    "aten.remainder.Tensor",
    "aten.remainder.Scalar",
    "aten.remainder.Scalar_Tensor",
    "prims.remainder.default",
)
def remainder(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    if not call.dtype.is_float:
        return op.Mod(x, y)
    return floating_point.remainder(*tensors(call, x, y))


@translates("aten.fmod.Tensor", "aten.fmod.Scalar", "prims.fmod.default")
def fmod(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    if call.dtype.is_float:
        return op.Mod(x, y, fmod=1)
    return integers.truncated_remainder(*tensors(call, x, y))


@translates("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(call: Call, x: Any, y: Any) -> Any:
    dtype = call.dtype
    if isinstance(y, int | float) and isinstance(x, Value):
        x = cast(x, dtype)
        if dtype.is_integer and not isinstance(y, float) and 0 < y <= 64:
            return integers.whole_power(x, int(y))
        if y == 2:
            return op.Mul(x, x)
        if y == 1:
            return x
        if y == 0.5:
            return op.Sqrt(x)
        if y == -0.5:
            return op.Reciprocal(op.Sqrt(x))
        if y == -1:
            return op.Reciprocal(x)
    if dtype.is_integer:
        return integers.power(*tensors(call, x, y))
    return op.Pow(cast(x, dtype), cast(y, dtype))


@translates("aten.neg.default", "aten.negative.default")
def neg(call: Call, x: Any) -> Any:
    return op.Neg(x)


@translates("aten.abs.default", "aten.absolute.default")
def absolute(call: Call, x: Any) -> Any:
    return op.Abs(x)


@translates("aten.sign.default", "aten.sgn.default")
def sign(call: Call, x: Any) -> Any:
    if call.dtype is DType.BOOL:
        return x
    return op.Where(op.IsNaN(x), cast(0, x.dtype), op.Sign(x)) if x.dtype.is_float else op.Sign(x)


@translates("aten.square.default")
def square(call: Call, x: Any) -> Any:
    x = cast(x, call.dtype)
    return op.Mul(x, x)


@translates("aten.rsqrt.default")
def rsqrt(call: Call, x: Any) -> Any:
    return op.Reciprocal(op.Sqrt(cast(x, call.dtype)))


#: log2 and log10 of powers are whole numbers only with more digits than the result has.
LOGARITHMS = {
    "aten.log2.default": 2.0,
    "prims.log2.default": 2.0,
    "aten.log10.default": 10.0,
    "prims.log10.default": 10.0,
}


@translates(*LOGARITHMS)
def logarithm(call: Call, x: Any) -> Any:
    return op.Div(op.Log(cast(x, DType.DOUBLE)), np.float64(np.log(LOGARITHMS[call.overload])))


@translates("aten.log1p.default", "aten.special_log1p.default")
def log1p(call: Call, x: Any) -> Any:
    return double.log1p(computed(call, x))


@translates("aten.exp2.default", "aten.special_exp2.default", "prims.exp2.default")
def exp2(call: Call, x: Any) -> Any:
    return op.Pow(cast(2, call.dtype), cast(x, call.dtype))


@translates("aten.expm1.default", "aten.special_expm1.default", "prims.expm1.default")
def expm1(call: Call, x: Any) -> Any:
    return double.expm1(computed(call, x))


@translates("aten.maximum.default")
def maximum(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    return op.Or(x, y) if call.dtype is DType.BOOL else op.Max(x, y)


@translates("aten.minimum.default")
def minimum(call: Call, x: Any, y: Any) -> Any:
    x, y = promoted(call, x, y)
    return op.And(x, y) if call.dtype is DType.BOOL else op.Min(x, y)


@translates("aten.clamp.default", "aten.clamp.Tensor", "aten.clip.default", "aten.clip.Tensor")
def clamp(call: Call, x: Any, min: Any = None, max: Any = None) -> Any:
    x = cast(x, call.dtype)
    if min is not None:
        x = op.Max(x, cast(min, call.dtype))
    return x if max is None else op.Min(x, cast(max, call.dtype))


@translates("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(call: Call, x: Any, min: Any) -> Any:
    return clamp(call, x, min)


@translates("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(call: Call, x: Any, max: Any) -> Any:
    return clamp(call, x, None, max)


@translates("aten.addcmul.default")
def addcmul(call: Call, x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    x, a, b = promoted(call, x, a, b)
    return op.Add(x, _scaled(call, op.Mul(a, b), value))


@translates("aten.addcdiv.default")
def addcdiv(call: Call, x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    x, a, b = promoted(call, x, a, b)
    return op.Add(x, _scaled(call, op.Div(a, b), value))


@translates("aten.lerp.Tensor", "aten.lerp.Scalar")
def lerp(call: Call, x: Any, end: Any, weight: Any) -> Any:
    x, end, weight = promoted(call, x, end, weight)
    return op.Add(x, op.Mul(weight, op.Sub(end, x)))


@translates(
    "aten.where.self",
    "aten.where.ScalarSelf",
    "aten.where.ScalarOther",
    "aten.where.Scalar",
    lifts=("x", "y"),
)
def where(call: Call, condition: Any, x: Any, y: Any) -> Any:
    return op.Where(cast(condition, DType.BOOL), *promoted(call, x, y))


@translates("aten.masked_fill.Scalar", "aten.masked_fill.Tensor", lifts=("x", "value"))
def masked_fill(call: Call, x: Any, mask: Any, value: Any) -> Any:
    return op.Where(cast(mask, DType.BOOL), *promoted(call, value, x))


@translates("aten.isnan.default")
def isnan(call: Call, x: Any) -> Any:
    return op.IsNaN(x) if x.dtype.is_float else op.Not(op.Equal(x, x))


@translates("aten.isinf.default")
def isinf(call: Call, x: Any) -> Any:
    return op.IsInf(x) if x.dtype.is_float else op.Not(op.Equal(x, x))
