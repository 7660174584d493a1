"""Complex numbers: their parts, arithmetic and comparisons, on pairs of real tensors."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, hypot, imaginary, real
from onnxsmith.algorithms.complex_numbers.pair import Complex, packed, unpacked
from onnxsmith.algorithms.operators import Tensor, TensorOperator, TensorOrArray, op
from onnxsmith.algorithms.values import as_tensor, constant, dtype_of, expand, like
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Given, Term, Translated
from onnxsmith.torch.library.registry import TRANSLATIONS, translates, translates_complex
from onnxsmith.torch.library.values import cast, is_number
from onnxsmith.types.dtypes import DType


def operand(value: Term, dtype: DType) -> Field:
    """A complex or real tensor, or a number, in an element type."""
    if isinstance(value, Complex):
        return Field(cast(value.real, dtype), cast(value.imag, dtype))
    if isinstance(value, complex):
        return Field(as_tensor(value.real, dtype), as_tensor(value.imag, dtype))
    return Field(as_tensor(value, dtype))


def pair(value: Field) -> Complex:
    """A result as a complex one."""
    whole = alike(value, Field(value.re, value.re))
    return Complex(whole.re, imaginary(whole))


# -- parts ----------------------------------------------------------------------------------------------------


@translates("aten.complex.default")
def complex_(call: Call, x: Tensor, y: Tensor) -> Complex:
    return _broadcast(call, cast(x, call.dtype), cast(y, call.dtype))


def _broadcast(call: Call, re: Tensor, im: Tensor) -> Complex:
    shape = call.output_shape()
    return Complex(expand(re, shape), expand(im, shape))


@translates("aten.polar.default")
def polar(call: Call, length: Tensor, angle: Tensor) -> Complex:
    return Complex(length * op.Cos(angle), length * op.Sin(angle))


@translates("aten.view_as_complex.default", "aten.view_as_complex_copy.default")
def view_as_complex(call: Call, x: Tensor) -> Complex:
    return unpacked(x)


@translates_complex("aten.view_as_real.default", "aten.view_as_real_copy.default")
def view_as_real(call: Call, x: Complex) -> Tensor:
    return packed(x)


@translates_complex("aten.real.default", "prims.real.default")
def real_part(call: Call, x: Complex) -> Tensor:
    return x.real


@translates_complex("aten.imag.default", "prims.imag.default")
def imaginary_part(call: Call, x: Complex) -> Tensor:
    return x.imag


CONJUGATES = (
    *("aten._conj.default", "aten.conj.default", "aten.conj_physical.default", "aten._conj_physical.default"),
    *("aten._conj_copy.default", "prims.conj.default", "prims.conj_physical.default"),
)
UNCHANGED = ("aten.resolve_conj.default", "aten.resolve_neg.default")


@translates_complex(*CONJUGATES)
def conjugate(call: Call, x: Complex) -> Complex:
    return Complex(x.real, -x.imag)


@translates(*CONJUGATES, *UNCHANGED, "aten.real.default")
@translates_complex(*UNCHANGED)
def unchanged(call: Call, x: Given) -> Given:
    return x


@translates_complex(
    "aten.neg.default", "aten.negative.default", "aten._neg_view.default", "prims.neg.default"
)
def negated(call: Call, x: Complex) -> Complex:
    return Complex(-x.real, -x.imag)


@translates("aten._neg_view.default")
def negated_view(call: Call, x: Tensor) -> Tensor:
    return -x


@translates_complex("aten.adjoint.default", "aten.mH.default", "aten.matrix_H.default")
def adjoint(call: Call, x: Complex) -> Given:
    made = Field(x.real, x.imag)
    return made.conj().as_value() if made.rank < 2 else made.adjoint().as_value()


@translates("aten.mH.default", "aten.matrix_H.default")
def real_adjoint(call: Call, x: Tensor) -> Tensor:
    made = Field(x)
    return x if made.rank < 2 else made.transposed().re


@translates_complex("aten.abs.default", "aten.absolute.default", "prims.abs.default")
def absolute(call: Call, x: Complex) -> Tensor:
    return hypot(x.real, x.imag)


@translates_complex("aten.angle.default")
def angle(call: Call, x: Complex) -> Tensor:
    return Field(x.real, x.imag).angle()


@translates("aten.angle.default")
def angle_of_real(call: Call, x: Tensor) -> Tensor:
    x = x if dtype_of(x).is_float else cast(x, call.dtype)
    turned = op.Where(op.Less(x, like(0, x)), like(np.pi, x), like(0, x))
    return op.Where(op.IsNaN(x), x, turned)


@translates_complex("aten.sgn.default")
def sgn(call: Call, x: Complex) -> Given:
    z = Field(x.real, x.imag)
    size = z.size()
    safe = op.Where(op.Equal(size, real(0, z)), real(1, z), size)
    return z.map(op.Div, safe).as_value()


@translates_complex("aten.sym_size.int", "aten.sym_numel.default", "aten.numel.default")
def size_of_either(call: Call, x: Complex, *args: Argument) -> Translated:
    found = TRANSLATIONS.get(call.overload)
    assert found is not None
    return found.function(call, x.real, *args)


# -- arithmetic -----------------------------------------------------------------------------------------------


def _scaled(call: Call, y: Term, alpha: Term) -> Field:
    return _scaled_field(call, operand(y, call.dtype), alpha)


@translates_complex("aten.add.Tensor", "aten.add.Scalar", "prims.add.default")
def add(call: Call, x: Term, y: Term, alpha: Term = 1) -> Complex:
    return pair(operand(x, call.dtype) + _scaled(call, y, alpha))


@translates_complex("aten.sub.Tensor", "aten.sub.Scalar", "prims.sub.default")
def sub(call: Call, x: Term, y: Term, alpha: Term = 1) -> Complex:
    return pair(operand(x, call.dtype) - _scaled(call, y, alpha))


@translates_complex("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(call: Call, x: Term, y: Term, alpha: Term = 1) -> Complex:
    return pair(operand(y, call.dtype) - _scaled(call, x, alpha))


@translates_complex("aten.mul.Tensor", "aten.mul.Scalar", "aten.multiply.Tensor", "prims.mul.default")
def mul(call: Call, x: Term, y: Term) -> Complex:
    return pair(operand(x, call.dtype) * operand(y, call.dtype))


@translates_complex(
    *("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor", "aten.divide.Tensor"),
    "prims.div.default",
)
def div(call: Call, x: Term, y: Term) -> Complex:
    return pair(operand(x, call.dtype) / operand(y, call.dtype))


@translates_complex("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(call: Call, x: Term, y: Term, *, rounding_mode: str | None = None) -> Complex:
    if rounding_mode is not None:
        raise call.refuse("rounding of complex quotients")
    return div(call, x, y)


@translates_complex("aten.reciprocal.default", "prims.reciprocal.default")
def reciprocal(call: Call, x: Complex) -> Given:
    z = operand(x, call.dtype)
    return (Field(constant(real(1, z))) / z).as_value()


@translates_complex("aten.square.default")
def square(call: Call, x: Complex) -> Given:
    z = operand(x, call.dtype)
    return (z * z).as_value()


@translates_complex("aten.addcmul.default")
def addcmul(call: Call, x: Term, a: Term, b: Term, *, value: Term = 1) -> Complex:
    product = operand(a, call.dtype) * operand(b, call.dtype)
    return pair(operand(x, call.dtype) + _scaled_field(call, product, value))


@translates_complex("aten.addcdiv.default")
def addcdiv(call: Call, x: Term, a: Term, b: Term, *, value: Term = 1) -> Complex:
    quotient = operand(a, call.dtype) / operand(b, call.dtype)
    return pair(operand(x, call.dtype) + _scaled_field(call, quotient, value))


def _scaled_field(call: Call, x: Field, value: Term) -> Field:
    return x if is_number(value, 1) else x * operand(value, call.dtype)


@translates_complex("aten.lerp.Tensor", "aten.lerp.Scalar")
def lerp(call: Call, x: Term, end: Term, weight: Term) -> Complex:
    first, last, share = (operand(each, call.dtype) for each in (x, end, weight))
    return pair(first + share * (last - first))


# -- comparisons ----------------------------------------------------------------------------------------------


def _both(x: Term, y: Term) -> tuple[Field, Field]:
    dtypes = [each.dtype for each in (x, y) if isinstance(each, Complex)]
    if not dtypes:  # a complex number beside a real tensor
        dtypes = [dtype_of(each) for each in (x, y) if isinstance(each, Tensor)]
    dtype = DType.DOUBLE if DType.DOUBLE in dtypes else dtypes[0]
    return operand(x, dtype), operand(y, dtype)


def _equal(x: Term, y: Term) -> Tensor:
    a, b = _both(x, y)
    zero = real(0, a)
    same = op.Equal(a.re, b.re)
    if a.im is None and b.im is None:
        return same
    return same & op.Equal(zero if a.im is None else a.im, zero if b.im is None else b.im)


@translates_complex("aten.eq.Tensor", "aten.eq.Scalar", "prims.eq.default")
def eq(call: Call, x: Term, y: Term) -> Tensor:
    return _equal(x, y)


@translates_complex("aten.ne.Tensor", "aten.ne.Scalar", "aten.not_equal.Tensor", "prims.ne.default")
def ne(call: Call, x: Term, y: Term) -> Tensor:
    return ~_equal(x, y)


def _either(x: Complex, check: TensorOperator) -> Tensor:
    return check(x.real) | check(x.imag)


@translates_complex("aten.isnan.default")
def isnan(call: Call, x: Complex) -> Tensor:
    return _either(x, op.IsNaN)


@translates_complex("aten.isinf.default")
def isinf(call: Call, x: Complex) -> Tensor:
    return _either(x, op.IsInf)


@translates_complex("aten.isfinite.default", "prims.isfinite.default")
def isfinite(call: Call, x: Complex) -> Tensor:
    return ~(_either(x, op.IsNaN) | _either(x, op.IsInf))


@translates_complex("aten.isreal.default")
def isreal(call: Call, x: Complex) -> Tensor:
    return op.Equal(x.imag, like(0, x.imag))


def nonzero(value: Term) -> TensorOrArray:
    """Where a complex or real tensor is not zero."""
    if isinstance(value, Complex):
        return Field(value.real, value.imag).is_nonzero()
    return cast(value, DType.BOOL)


LOGICAL = {
    "aten.logical_and.default": "And",
    "aten.logical_or.default": "Or",
    "aten.logical_xor.default": "Xor",
}


@translates_complex(*LOGICAL)
def logical(call: Call, x: Term, y: Term) -> Tensor:
    return getattr(op, LOGICAL[call.overload])(nonzero(x), nonzero(y))


@translates_complex("aten.logical_not.default")
def logical_not(call: Call, x: Complex) -> Tensor:
    return op.Not(nonzero(x))


@translates_complex("aten.isclose.default")
def isclose(
    call: Call, x: Term, y: Term, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    a, b = _both(x, y)
    difference = (a - b).size()
    limit = b.size() * real(abs(rtol), a) + real(atol, a)
    finite = ~(op.IsInf(difference) | op.IsNaN(difference))
    close = _equal(x, y) | finite & (difference <= limit)
    if not equal_nan:
        return close
    both = _is_nan(a) & _is_nan(b)
    return close | both


def _is_nan(z: Field) -> Tensor:
    return op.IsNaN(z.re) if z.im is None else op.IsNaN(z.re) | op.IsNaN(z.im)


@translates_complex("aten.nan_to_num.default")
def nan_to_num(
    call: Call,
    x: Complex,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Complex:
    limits = np.finfo(call.dtype.numpy)
    highest = limits.max if posinf is None else posinf
    lowest = limits.min if neginf is None else neginf

    def plain(part: Tensor) -> Tensor:
        part = op.Where(op.IsNaN(part), cast(0.0 if nan is None else nan, call.dtype), part)
        part = op.Where(op.IsInf(part, detect_negative=0), cast(highest, call.dtype), part)
        return op.Where(op.IsInf(part, detect_positive=0), cast(lowest, call.dtype), part)

    return Complex(plain(x.real), plain(x.imag))
