"""Exponentials and logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onnxsmith.algorithms.complex_numbers import elementary
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import double, logarithms
from onnxsmith.algorithms.special.double import number
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.numpy.ufunc import define, operator
from onnxsmith.numpy.ufuncs.precision import by_digits, complex_in_double, in_double, in_single


def _exp2(x: Tensor) -> Tensor:
    return op.Pow(number(2), x)


def _exp2_complex(z: Field) -> Field:
    return elementary.exp(elementary.scaled(z, float(np.log(2))))


def _log_to(base: float) -> Callable[[Field], Field]:
    def call(z: Field) -> Field:
        return elementary.scaled(elementary.log(z), float(1 / np.log(base)))

    return call


def _expm1_in_single(x: Tensor) -> Tensor:
    """exp(x) - 1 to the digits of float32."""
    close = x * (1 + x * 0.5)
    return chosen(abs(x) < 1e-5, close, op.Exp(x) - 1)


def _log1p_in_single(x: Tensor) -> Tensor:
    """log(1 + x) to the digits of float32."""
    close = x * (1 - x * 0.5)
    return chosen(abs(x) < 1e-5, close, op.Log(x + 1))


exp = define("exp", in_single(operator("Exp")), complex_in_double(elementary.exp))
exp2 = define("exp2", in_double(_exp2), complex_in_double(_exp2_complex))
expm1 = define("expm1", by_digits(_expm1_in_single, double.expm1), complex_in_double(elementary.expm1))
log = define("log", in_single(operator("Log")), complex_in_double(elementary.log))
log2 = define("log2", in_double(logarithms.log2), complex_in_double(_log_to(2)))
log10 = define("log10", in_double(logarithms.log10), complex_in_double(_log_to(10)))
log1p = define("log1p", by_digits(_log1p_in_single, double.log1p), complex_in_double(elementary.log1p))
logaddexp = define("logaddexp", in_double(logarithms.logaddexp))
logaddexp2 = define("logaddexp2", in_double(logarithms.logaddexp2))
