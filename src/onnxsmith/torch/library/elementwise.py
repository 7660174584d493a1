"""Arithmetic and functions of one element: what has the same shape as its operands, broadcast."""

from __future__ import annotations

from onnxsmith.algorithms import division, elementary, integers
from onnxsmith.algorithms.elementary import Name
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.special import double
from onnxsmith.algorithms.values import Numeric, as_tensor, cast, converted
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.marks import at_least, at_most
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import promoted, tensors
from onnxsmith.types.dtypes import DType

#: Functions of floats that ONNX has under another name; ints are made floats first, as the result says.
FLOAT_FUNCTIONS: dict[str, Name] = {
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


@translates(*FLOAT_FUNCTIONS)
def float_function(call: Call, x: Tensor) -> Tensor:
    return elementary.function_of(FLOAT_FUNCTIONS[call.overload], converted(x, call.dtype))


def computed(call: Call, x: Numeric) -> Tensor:
    """An operand in the precision that a formula of several steps needs: halves are too short for it."""
    return as_tensor(x, DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype)


@translates(*ROUNDINGS)
def rounding(call: Call, x: Tensor) -> Tensor:
    return getattr(op, ROUNDINGS[call.overload])(x) if call.dtype.is_float else x


@translates("aten.trunc.default", "aten.fix.default", "prims.trunc.default")
def trunc(call: Call, x: Tensor) -> Tensor:
    return elementary.trunc(x)


# -- arithmetic ----------------------------------------------------------------------------------------


def _scaled(call: Call, x: Numeric, alpha: Numeric) -> TensorOrArray:
    """An operand times `alpha`, in the element type of the result."""
    made = cast(x, call.dtype)
    return made if isinstance(alpha, int | float) and alpha == 1 else op.Mul(made, cast(alpha, call.dtype))


@translates("aten.add.Tensor", "aten.add.Scalar")
def add(call: Call, x: Numeric, y: Numeric, alpha: Numeric = 1) -> Tensor:
    if call.dtype is DType.BOOL:
        other = cast(y, DType.BOOL)
        is_scaled = not (isinstance(alpha, int | float) and alpha)
        return op.Or(cast(x, DType.BOOL), op.And(other, cast(alpha, DType.BOOL)) if is_scaled else other)
    return op.Add(cast(x, call.dtype), _scaled(call, y, alpha))


@translates("aten.sub.Tensor", "aten.sub.Scalar")
def sub(call: Call, x: Numeric, y: Numeric, alpha: Numeric = 1) -> Tensor:
    return op.Sub(cast(x, call.dtype), _scaled(call, y, alpha))


@translates("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(call: Call, x: Numeric, y: Numeric, alpha: Numeric = 1) -> Tensor:
    return op.Sub(cast(y, call.dtype), _scaled(call, x, alpha))


@translates("aten.mul.Tensor", "aten.mul.Scalar")
def mul(call: Call, x: Numeric, y: Numeric) -> Tensor:
    a, b = promoted(call, x, y)
    return op.And(a, b) if call.dtype is DType.BOOL else op.Mul(a, b)


@translates("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return op.Div(*promoted(call, x, y))


@translates("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(call: Call, x: Numeric, y: Numeric, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode == "floor":
        return division.floor_divide(*(computed(call, each) for each in tensors(call, x, y)))
    quotient = op.Div(*tensors(call, x, y))
    return quotient if rounding_mode is None else elementary.trunc(quotient)


@translates("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return div_mode(call, x, y, rounding_mode="floor")


@translates(
    "aten.remainder.Tensor",
    "aten.remainder.Scalar",
    "aten.remainder.Scalar_Tensor",
    "prims.remainder.default",
)
def remainder(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return division.remainder(*tensors(call, x, y))


@translates("aten.fmod.Tensor", "aten.fmod.Scalar", "prims.fmod.default")
def fmod(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return division.truncated_remainder(*tensors(call, x, y))


@translates("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(call: Call, x: Numeric, y: Numeric) -> Tensor:
    dtype = call.dtype
    if isinstance(y, int | float) and isinstance(x, Tensor):
        base = as_tensor(x, dtype)
        if dtype.is_integer and not isinstance(y, float) and 0 < y <= 64:
            return integers.whole_power(base, int(y))
        if y == 2:
            return op.Mul(base, base)
        if y == 1:
            return base
        if y == 0.5:
            return op.Sqrt(base)
        if y == -0.5:
            return op.Reciprocal(op.Sqrt(base))
        if y == -1:
            return op.Reciprocal(base)
    if dtype.is_integer:
        return integers.power(*tensors(call, x, y))
    return op.Pow(*promoted(call, x, y))


@translates("aten.neg.default", "aten.negative.default")
def neg(call: Call, x: Tensor) -> Tensor:
    return op.Neg(x)


@translates("aten.abs.default", "aten.absolute.default")
def absolute(call: Call, x: Tensor) -> Tensor:
    return op.Abs(x)


@translates("aten.sign.default", "aten.sgn.default")
def sign(call: Call, x: Tensor) -> Tensor:
    return elementary.sign(x)


@translates("aten.square.default")
def square(call: Call, x: Tensor) -> Tensor:
    x = converted(x, call.dtype)
    return op.Mul(x, x)


@translates("aten.rsqrt.default")
def rsqrt(call: Call, x: Tensor) -> Tensor:
    return op.Reciprocal(op.Sqrt(converted(x, call.dtype)))


LOGARITHMS = {
    "aten.log2.default": 2.0,
    "prims.log2.default": 2.0,
    "aten.log10.default": 10.0,
    "prims.log10.default": 10.0,
}


@translates(*LOGARITHMS)
def logarithm(call: Call, x: Tensor) -> Tensor:
    return elementary.logarithm(x, LOGARITHMS[call.overload])


@translates("aten.log1p.default", "aten.special_log1p.default")
def log1p(call: Call, x: Tensor) -> Tensor:
    return double.log1p(computed(call, x))


@translates("aten.exp2.default", "aten.special_exp2.default", "prims.exp2.default")
def exp2(call: Call, x: Tensor) -> Tensor:
    return elementary.exp2(converted(x, call.dtype))


@translates("aten.expm1.default", "aten.special_expm1.default", "prims.expm1.default")
def expm1(call: Call, x: Tensor) -> Tensor:
    return double.expm1(computed(call, x))


# -- limits --------------------------------------------------------------------------------------------


@translates("aten.maximum.default")
def maximum(call: Call, x: Tensor, y: Tensor) -> Tensor:
    return elementary.maximum(*tensors(call, x, y))


@translates("aten.minimum.default")
def minimum(call: Call, x: Tensor, y: Tensor) -> Tensor:
    return elementary.minimum(*tensors(call, x, y))


@translates("aten.clamp.default", "aten.clamp.Tensor", "aten.clip.default", "aten.clip.Tensor")
def clamp(call: Call, x: Tensor, min: Numeric | None = None, max: Numeric | None = None) -> Tensor:
    x = converted(x, call.dtype)
    if min is not None:
        x = at_least(x, cast(min, call.dtype))
    return x if max is None else at_most(x, cast(max, call.dtype))


@translates("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(call: Call, x: Tensor, min: Numeric) -> Tensor:
    return clamp(call, x, min)


@translates("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(call: Call, x: Tensor, max: Numeric) -> Tensor:
    return clamp(call, x, None, max)


# -- of several operands -------------------------------------------------------------------------------


@translates("aten.addcmul.default")
def addcmul(call: Call, x: Numeric, a: Numeric, b: Numeric, *, value: Numeric = 1) -> Tensor:
    first, *factors = promoted(call, x, a, b)
    return op.Add(first, _scaled(call, op.Mul(*factors), value))


@translates("aten.addcdiv.default")
def addcdiv(call: Call, x: Numeric, a: Numeric, b: Numeric, *, value: Numeric = 1) -> Tensor:
    first, *parts = promoted(call, x, a, b)
    return op.Add(first, _scaled(call, op.Div(*parts), value))


@translates("aten.lerp.Tensor", "aten.lerp.Scalar")
def lerp(call: Call, x: Numeric, end: Numeric, weight: Numeric) -> Tensor:
    start, last, share = promoted(call, x, end, weight)
    return op.Add(start, op.Mul(share, op.Sub(last, start)))


@translates(
    "aten.where.self",
    "aten.where.ScalarSelf",
    "aten.where.ScalarOther",
    "aten.where.Scalar",
    lifts=("x", "y"),
)
def where(call: Call, condition: Tensor, x: Numeric, y: Numeric) -> Tensor:
    return op.Where(converted(condition, DType.BOOL), *promoted(call, x, y))


@translates("aten.masked_fill.Scalar", "aten.masked_fill.Tensor", lifts=("x", "value"))
def masked_fill(call: Call, x: Tensor, mask: Tensor, value: Numeric) -> Tensor:
    return op.Where(converted(mask, DType.BOOL), *promoted(call, value, x))


@translates("aten.isnan.default")
def isnan(call: Call, x: Tensor) -> Tensor:
    return elementary.is_nan(x)


@translates("aten.isinf.default")
def isinf(call: Call, x: Tensor) -> Tensor:
    return elementary.is_infinite(x)
