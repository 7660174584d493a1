"""Exponentials, logarithms, powers and trigonometric functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from onnxsmith.algorithms import angles, integers
from onnxsmith.algorithms import elementary as real
from onnxsmith.algorithms.complex_numbers import elementary
from onnxsmith.algorithms.complex_numbers import trigonometric as of_complex
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import circular, double, logarithms
from onnxsmith.algorithms.special.double import number
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import dtype_of, like
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import Elements
from onnxsmith.numpy.requirements import require
from onnxsmith.numpy.ufunc import RealLoop, define, operator
from onnxsmith.numpy.ufuncs.precision import by_digits, by_precision, complex_in_double, in_double, in_single


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


# -- powers --------------------------------------------------------------------------------------------


@in_single
def _power(x: Tensor, exponent: Tensor) -> Tensor:
    if _is_two(exponent):
        return x * x  # as numpy does for x ** 2; ONNX Runtime's Pow takes thirty times as long
    if dtype_of(exponent).is_integer:
        said = "Integers to negative integer powers are not allowed."
        require(lambda: exponent >= 0, ValueError(said))
    return op.Pow(x, exponent) if dtype_of(x).is_float else integers.power(x, exponent)


def _is_two(exponent: Tensor) -> bool:
    """True if an exponent is known to be a single 2."""
    known = exponent.known.data
    return isinstance(known, np.ndarray) and known.shape == () and bool(known == 2)


def _check_exponent(loop: Sequence[NumpyDType], feeds: Sequence[Elements | None]) -> None:
    """Refuse negative exponents of integers, as numpy does, where they are known."""
    exponent = feeds[1]
    if loop[0].kind == "i" and exponent is not None and exponent.dtype.kind == "i" and (exponent < 0).any():
        raise AttributeValueError(
            "an integer to a negative power is no integer", help="use a float: x ** -1.0, or xp.float_power"
        )


power = define(("power", "pow"), _power, complex_in_double(elementary.power), check=_check_exponent)
float_power = define("float_power", operator("Pow"), complex_in_double(elementary.power))
sqrt = define("sqrt", in_single(operator("Sqrt")), complex_in_double(elementary.sqrt))
cbrt = define("cbrt", in_double(real.cbrt))


# -- trigonometry --------------------------------------------------------------------------------------


def _times(factor: float) -> RealLoop:
    def call(x: Tensor) -> Tensor:
        return x * like(factor, x)

    return in_single(call)


sin = define("sin", by_precision("Sin", circular.sin), complex_in_double(of_complex.sin))
cos = define("cos", by_precision("Cos", circular.cos), complex_in_double(of_complex.cos))
tan = define("tan", by_precision("Tan", circular.tan), complex_in_double(of_complex.tan))
arcsin = define(("arcsin", "asin"), in_double(circular.asin), complex_in_double(of_complex.asin))
arccos = define(("arccos", "acos"), in_double(circular.acos), complex_in_double(of_complex.acos))
arctan = define(("arctan", "atan"), by_precision("Atan", circular.atan), complex_in_double(of_complex.atan))
arctan2 = define(("arctan2", "atan2"), in_single(angles.atan2))
sinh = define("sinh", by_precision("Sinh", circular.sinh), complex_in_double(of_complex.sinh))
cosh = define("cosh", by_precision("Cosh", circular.cosh), complex_in_double(of_complex.cosh))
tanh = define("tanh", by_digits(operator("Tanh"), circular.tanh), complex_in_double(of_complex.tanh))
arcsinh = define(
    ("arcsinh", "asinh"), by_precision("Asinh", circular.asinh), complex_in_double(of_complex.asinh)
)
arccosh = define(
    ("arccosh", "acosh"), by_precision("Acosh", circular.acosh), complex_in_double(of_complex.acosh)
)
arctanh = define(
    ("arctanh", "atanh"), by_precision("Atanh", circular.atanh), complex_in_double(of_complex.atanh)
)
hypot = define("hypot", angles.hypot)
radians = define(("radians", "deg2rad"), _times(np.pi / 180))
degrees = define(("degrees", "rad2deg"), _times(180 / np.pi))
