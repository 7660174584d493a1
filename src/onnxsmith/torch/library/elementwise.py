"""Arithmetic, comparisons and functions of one element: what has the same shape as its operands, broadcast."""

from __future__ import annotations

from typing import get_args

import numpy as np

from onnxsmith.algorithms import angles, division, elementary, integers
from onnxsmith.algorithms.elementary import Name
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.special import double, float_parts
from onnxsmith.algorithms.values import Numeric, as_tensor, cast, converted
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import at_least, at_most
from onnxsmith.torch.library.registry import by_overload, translates
from onnxsmith.torch.library.values import common, promoted, tensors
from onnxsmith.types.dtypes import DType

#: Functions of floats that ONNX has under another name; ints are made floats first, as the result says.
FLOAT_FUNCTIONS: dict[str, Name] = {f"aten.{name.lower()}.default": name for name in get_args(Name)}
#: Functions that leave whole numbers as they are.
ROUNDINGS = {f"aten.{name.lower()}.default": name for name in ("Ceil", "Floor", "Round")}


@translates(*FLOAT_FUNCTIONS)
def float_function(call: Call, x: Tensor) -> Tensor:
    return elementary.function_of(FLOAT_FUNCTIONS[call.overload], converted(x, call.dtype))


def computed(call: Call, x: Numeric) -> Tensor:
    """An operand in the precision that a formula of several steps needs: halves are too short for it."""
    return as_tensor(x, DType.FLOAT if call.dtype in (DType.FLOAT16, DType.BFLOAT16) else call.dtype)


@translates(*ROUNDINGS)
def rounding(call: Call, x: Tensor) -> Tensor:
    return getattr(op, ROUNDINGS[call.overload])(x) if call.dtype.is_float else x


#: Functions of one number in its own element type.
OF_ONE = by_overload(
    {
        elementary.trunc: "aten.trunc aten.fix prims.trunc",
        elementary.sign: "aten.sign aten.sgn",
        elementary.is_nan: "aten.isnan",
        elementary.is_infinite: "aten.isinf",
        float_parts.signbit: "aten.signbit prims.signbit",
        float_parts.frexp: "aten.frexp.Tensor prims.frexp",
    }
)
#: Functions of two numbers in the element type of the result.
OF_TWO = by_overload(
    {
        elementary.maximum: "aten.maximum aten.max.other",
        elementary.minimum: "aten.minimum aten.min.other",
        elementary.fmax: "aten.fmax prims.fmax",
        elementary.fmin: "aten.fmin prims.fmin",
        angles.hypot: "aten.hypot prims.hypot",
        float_parts.nextafter: "aten.nextafter prims.nextafter",
        division.remainder: (
            "aten.remainder.Tensor aten.remainder.Scalar aten.remainder.Scalar_Tensor prims.remainder"
        ),
        division.truncated_remainder: "aten.fmod.Tensor aten.fmod.Scalar prims.fmod",
    }
)


@translates(*OF_ONE)
def of_one(call: Call, x: Tensor) -> Translated:
    return OF_ONE[call.overload](x)


@translates(*OF_TWO)
def of_two(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return OF_TWO[call.overload](*tensors(call, x, y))


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


@translates("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(call: Call, x: Tensor, y: Numeric) -> Tensor:
    if isinstance(y, bool | int | float):
        size = abs(as_tensor(x, call.dtype))
        return -size if np.signbit(y) else size
    return float_parts.copysign(*tensors(call, x, y))


@translates("aten.atan2.default", "aten.arctan2.default", "prims.atan2.default")
def atan2(call: Call, y: Numeric, x: Numeric) -> Tensor:
    dtype = DType.DOUBLE if call.dtype is DType.DOUBLE else DType.FLOAT
    return angles.atan2(as_tensor(y, dtype), as_tensor(x, dtype))


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


# -- comparisons and logic -------------------------------------------------------------------------------

ORDERINGS = {
    f"aten.{name}.{kind}": operator
    for name, operator in (
        *(("lt", "Less"), ("le", "LessOrEqual"), ("gt", "Greater"), ("ge", "GreaterOrEqual")),
        ("eq", "Equal"),
    )
    for kind in ("Tensor", "Scalar")
}
LOGICAL = {f"aten.logical_{name.lower()}.default": name for name in ("And", "Or", "Xor", "Not")}


@translates(*ORDERINGS)
def ordering(call: Call, x: Tensor, y: Numeric) -> Translated:
    return cast(getattr(op, ORDERINGS[call.overload])(*common(call, x, y)), call.dtype)


@translates("aten.ne.Tensor", "aten.ne.Scalar")
def not_equal(call: Call, x: Tensor, y: Numeric) -> Translated:
    return cast(~op.Equal(*common(call, x, y)), call.dtype)


@translates(*LOGICAL)
def logical(call: Call, *numbers: Numeric) -> Translated:
    return getattr(op, LOGICAL[call.overload])(*[cast(each, DType.BOOL) for each in numbers])
