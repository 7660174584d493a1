"""Exponentials and logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onnxsmith.algorithms.complex_numbers import elementary
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special import double
from onnxsmith.algorithms.special.double import number
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import like
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import RealLoop, define, operator
from onnxsmith.numpy.ufuncs.precision import by_digits, complex_in_double, in_double, in_single

#: 1 / log(2) and 1 / log(10), as doubles and what is missing from them.
_BITS = (1.4426950408889634, 2.0355273740931033e-17)
_DIGITS = (0.4342944819032518, 1.098319650216765e-17)


def _exp2(x: TensorValue) -> TensorValue:
    return op.Pow(number(2), x)


def _log_of(base: float, high: float, low: float) -> RealLoop:
    """A logarithm that is whole where the number is a power of the base; 1 / log(base) is given in two parts."""

    def call(x: TensorValue) -> TensorValue:
        plain = op.Log(x)
        # What 1 / log(base) is more than its double counts, too.
        found = op.Add(op.Mul(plain, number(high)), op.Mul(plain, number(low)))
        whole = op.Round(found)
        return op.Where(op.Equal(op.Pow(number(base), whole), x), whole, found)

    return call


def _logaddexp(x: TensorValue, y: TensorValue) -> TensorValue:
    """log(exp(x) + exp(y)), without overflow; equal infinities stay."""
    larger = op.Max(x, y)
    distance = op.Neg(op.Abs(op.Sub(x, y)))
    return op.Where(
        op.Equal(x, y), op.Add(x, like(np.log(2.0), x)), op.Add(larger, double.log1p(op.Exp(distance)))
    )


def _logaddexp2(x: TensorValue, y: TensorValue) -> TensorValue:
    larger = op.Max(x, y)
    distance = op.Neg(op.Abs(op.Sub(x, y)))
    more = op.Mul(double.log1p(_exp2(distance)), number(1 / np.log(2.0)))
    return op.Where(op.Equal(x, y), op.Add(x, like(1, x)), op.Add(larger, more))


def _exp2_complex(z: Field) -> Field:
    return elementary.exp(elementary.scaled(z, float(np.log(2))))


def _log_to(base: float) -> Callable[[Field], Field]:
    def call(z: Field) -> Field:
        return elementary.scaled(elementary.log(z), float(1 / np.log(base)))

    return call


def _expm1_in_single(x: TensorValue) -> TensorValue:
    """exp(x) - 1 to the digits of float32."""
    close = op.Mul(x, op.Add(number(1), op.Mul(x, number(0.5))))
    return chosen(op.Less(op.Abs(x), number(1e-5)), close, op.Sub(op.Exp(x), number(1)))


def _log1p_in_single(x: TensorValue) -> TensorValue:
    """log(1 + x) to the digits of float32."""
    close = op.Mul(x, op.Sub(number(1), op.Mul(x, number(0.5))))
    return chosen(op.Less(op.Abs(x), number(1e-5)), close, op.Log(op.Add(x, number(1))))


exp = define("exp", in_single(operator("Exp")), complex_in_double(elementary.exp))
exp2 = define("exp2", in_double(_exp2), complex_in_double(_exp2_complex))
expm1 = define("expm1", by_digits(_expm1_in_single, double.expm1), complex_in_double(elementary.expm1))
log = define("log", in_single(operator("Log")), complex_in_double(elementary.log))
log2 = define("log2", in_double(_log_of(2, *_BITS)), complex_in_double(_log_to(2)))
log10 = define("log10", in_double(_log_of(10, *_DIGITS)), complex_in_double(_log_to(10)))
log1p = define("log1p", by_digits(_log1p_in_single, double.log1p), complex_in_double(elementary.log1p))
logaddexp = define("logaddexp", in_double(_logaddexp))
logaddexp2 = define("logaddexp2", in_double(_logaddexp2))
