"""Sums, products, quotients, signs, rounding."""

from __future__ import annotations

from functools import partial

import numpy as np

from onnxsmith.algorithms import division, elementary
from onnxsmith.algorithms.complex_numbers.elementary import quotient
from onnxsmith.algorithms.complex_numbers.field import Field, imaginary, real
from onnxsmith.algorithms.complex_numbers.selecting import select
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import constant, dtype_of
from onnxsmith.numpy.ufunc import RealLoop, define, operator
from onnxsmith.numpy.ufuncs import shortcuts
from onnxsmith.numpy.ufuncs.precision import in_single
from onnxsmith.types.dtypes import DType


def _add(x: Tensor, y: Tensor) -> Tensor:
    return x | y if x.dtype is DType.BOOL else x + y


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    return x & y if x.dtype is DType.BOOL else x * y


def same(x: Tensor) -> Tensor:
    """The elements as they are."""
    return op.Identity(x)


def _negative(x: Tensor) -> Tensor:
    return 0 - x if dtype_of(x).kind == "unsigned" else -x


def _absolute(x: Tensor) -> Tensor:
    return same(x) if x.dtype is DType.BOOL else abs(x)


def _reciprocal_complex(z: Field) -> Field:
    """1 / z by the larger part, as numpy has it: zero gives no number."""
    by_real = abs(imaginary(z)) <= abs(z.re)
    larger, smaller = chosen(by_real, z.re, imaginary(z)), chosen(by_real, imaginary(z), z.re)
    ratio = op.Div(smaller, larger)
    divisor = larger + smaller * ratio
    one = constant(real(1, z))
    return Field(op.Div(chosen(by_real, one, ratio), divisor), op.Div(-chosen(by_real, ratio, one), divisor))


def _reciprocal(x: Tensor) -> Tensor:
    dtype = dtype_of(x)
    if dtype.is_float:
        return op.Reciprocal(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        # numpy converts the infinity of 1 / 0 to an integer, which the processor decides.
        of_zero = np.reciprocal(np.zeros((), dtype.numpy))
    unit = op.Equal(abs(x), 1)
    return op.Where(op.Equal(x, 0), of_zero, op.Where(unit, x, 0))


def _sign_complex(z: Field) -> Field:
    """z / |z|; zero for zero, one along an axis towards infinity."""
    size = z.size()
    is_zero = op.Equal(size, real(0, z))
    plain = z.map(op.Div, size)
    at_end, zero = op.IsInf(z.re), real(0, z)
    infinite = Field(op.Where(at_end, op.Sign(z.re), zero), op.Where(at_end, zero, op.Sign(imaginary(z))))
    is_corner = op.IsInf(z.re) & op.IsInf(imaginary(z))
    is_unknown = is_corner | op.IsNaN(size)
    nan = Field(constant(real(np.nan, z)), constant(real(np.nan, z)))
    found = select(op.IsInf(size), infinite, select(is_zero, Field(constant(real(0, z))), plain))
    return select(is_unknown, nan, found)


def _same_complex(z: Field) -> Field:
    return z


def _square(x: Tensor) -> Tensor:
    return x * x


def _square_complex(z: Field) -> Field:
    plain = z * z
    # Where both squares overflow, their difference is no number, and (x - y) (x + y) is infinite.
    x, y = z.re, imaginary(z)
    other = (x - y) * (x + y)
    return Field(chosen(op.IsNaN(plain.re), other, plain.re), imaginary(plain))


add = define("add", _add, Field.__add__, reduce=shortcuts.total)
subtract = define("subtract", operator("Sub"), Field.__sub__)
multiply = define("multiply", _multiply, Field.__mul__)
divide = define(("divide", "true_divide"), operator("Div"), quotient)
negative = define("negative", _negative, Field.__neg__)
positive = define("positive", same, _same_complex)
absolute = define(("absolute", "abs"), _absolute, Field.size)
fabs = define("fabs", operator("Abs"))
sign = define("sign", in_single(operator("Sign")), _sign_complex)
reciprocal = define("reciprocal", _reciprocal, _reciprocal_complex)
square = define("square", _square, _square_complex)
conjugate = define(("conjugate", "conj"), same, Field.conj)


# -- division ------------------------------------------------------------------------------------------


floor_divide = define("floor_divide", in_single(partial(division.floor_divide, signs_zero=True)))
remainder = define(("remainder", "mod"), in_single(partial(division.remainder, signs_zero=True)))
fmod = define("fmod", in_single(division.truncated_remainder))
divmod = define("divmod", in_single(partial(division.floor_divide_and_remainder, signs_zero=True)))


# -- rounding ------------------------------------------------------------------------------------------


def _rounded(name: str) -> RealLoop:
    def call(x: Tensor) -> Tensor:
        return getattr(op, name)(x) if dtype_of(x).is_float else op.Identity(x)

    return call


def _trunc(x: Tensor) -> Tensor:
    return elementary.trunc(x) if dtype_of(x).is_float else op.Identity(x)


def _rint_complex(z: Field) -> Field:
    return z.map(op.Round)


floor = define("floor", _rounded("Floor"))
ceil = define("ceil", _rounded("Ceil"))
trunc = define("trunc", _trunc)
rint = define("rint", _rounded("Round"), _rint_complex)
