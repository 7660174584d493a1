"""The parts of floating-point numbers: sign, exponent, fraction, neighbours."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import elementary
from onnxsmith.algorithms.complex_numbers.field import Field, imaginary
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import float_parts
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import dtype_of, like
from onnxsmith.numpy.ufunc import define
from onnxsmith.numpy.ufuncs.precision import in_single


def _isfinite(x: Tensor) -> Tensor:
    return abs(x) < np.inf if dtype_of(x).is_float else op.Equal(x, x)


def _isinf_complex(z: Field) -> Tensor:
    return op.IsInf(z.re) | op.IsInf(imaginary(z))


def _isfinite_complex(z: Field) -> Tensor:
    return _isfinite(z.re) & _isfinite(imaginary(z))


def _heaviside(x: Tensor, at_zero: Tensor) -> Tensor:
    zero = like(0, x)
    step = op.Where(x < zero, zero, like(1, x))
    return chosen(op.IsNaN(x), x, chosen(op.Equal(x, zero), at_zero, step))


isnan = define("isnan", elementary.is_nan, Field.is_nan)
isinf = define("isinf", elementary.is_infinite, _isinf_complex)
isfinite = define("isfinite", _isfinite, _isfinite_complex)
signbit = define("signbit", float_parts.signbit)
copysign = define("copysign", float_parts.copysign)
nextafter = define("nextafter", float_parts.nextafter)
spacing = define("spacing", float_parts.spacing)
frexp = define("frexp", float_parts.frexp)
ldexp = define("ldexp", float_parts.ldexp)
modf = define("modf", in_single(elementary.modf))
heaviside = define("heaviside", _heaviside)
