"""Circular and hyperbolic functions, their inverses, angles."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import angles
from onnxsmith.algorithms.complex_numbers import trigonometric as of_complex
from onnxsmith.algorithms.operators import Tensor
from onnxsmith.algorithms.special import circular
from onnxsmith.algorithms.values import like
from onnxsmith.numpy.ufunc import RealLoop, define, operator
from onnxsmith.numpy.ufuncs.precision import by_digits, by_precision, complex_in_double, in_double, in_single


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
