"""Exponentials and logarithms."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers import functions as of_complex
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special import double
from onnxsmith.algorithms.special.double import number
from onnxsmith.algorithms.values import like
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import define, operator
from onnxsmith.numpy.ufuncs.precision import in_double, in_single


def _exp2(x: TensorValue) -> TensorValue:
    return op.Pow(number(2), x)


def _log2(x: TensorValue) -> TensorValue:
    return op.Mul(op.Log(x), number(1 / np.log(2.0)))


def _log10(x: TensorValue) -> TensorValue:
    return op.Mul(op.Log(x), number(1 / np.log(10.0)))


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


exp = define("exp", in_single(operator("Exp")), of_complex.exp)
exp2 = define("exp2", in_double(_exp2), of_complex.FUNCTIONS["exp2"])
expm1 = define("expm1", in_double(double.expm1), of_complex.expm1)
log = define("log", in_single(operator("Log")), of_complex.log)
log2 = define("log2", in_double(_log2), of_complex.FUNCTIONS["log2"])
log10 = define("log10", in_double(_log10), of_complex.FUNCTIONS["log10"])
log1p = define("log1p", in_double(double.log1p), of_complex.log_of_one_more)
logaddexp = define("logaddexp", in_double(_logaddexp))
logaddexp2 = define("logaddexp2", in_double(_logaddexp2))
