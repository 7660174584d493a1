"""Special functions of single elements, as `scipy.special` has them: scipy finds them as `xp.special`.

They compute in float64; the result is of the argument's type, and float64 for integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special import bessel, error_functions, logarithms
from onnxsmith.algorithms.special.double import log1p, where
from onnxsmith.errors import InputTypeError, boundary
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, tensor_of
from onnxsmith.numpy.documentation import documented
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.types.dtypes import DType

#: What a function computes, on float64.
_Definition: TypeAlias = Callable[[Tensor], Tensor]


def _define(name: str, definition: _Definition) -> Callable[[ArrayLike], Array]:
    """Enter a function of one array in the namespace."""

    @recorded()
    def computed(x: Array) -> Array:
        result = definition(values.converted(tensor_of(x), DType.DOUBLE))
        kind = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        return Array(values.converted(result, dtypes.onnx_type(kind)))

    @boundary
    def function(x: ArrayLike, /, out: Array | None = None) -> Array:
        array = array_of(x)
        if array.dtype.kind == "c":
            raise InputTypeError(f"{name} takes real numbers, not {array.dtype.name}")
        if out is None:
            return computed(array)
        out[...] = computed(array)
        return out

    function.__name__ = function.__qualname__ = name
    function.__doc__ = documented(f"special.{name}")
    return public(f"special.{name}")(function)


def _expit(x: Tensor) -> Tensor:
    is_negative = x < 0.0
    # Minus the absolute value, by a choice that is no kink: each side is the function beyond 0, too.
    smaller = op.Exp(op.Where(is_negative, x, -x))
    numerator = where(is_negative, smaller, 1.0)
    return numerator / (1.0 + smaller)


def _logit(p: Tensor) -> Tensor:
    """The logarithm of p / (1 - p); in the middle, where that is near 1, from the distance to a half."""
    twice = p + p - 1.0
    middle = log1p(twice) - log1p(-twice)
    outside = op.Log(p / (1.0 - p))
    return op.Where(abs(twice) < 0.4, middle, outside)


erf = _define("erf", error_functions.erf)
erfc = _define("erfc", error_functions.erfc)
erfinv = _define("erfinv", error_functions.erfinv)
expit = _define("expit", _expit)
logit = _define("logit", _logit)
entr = _define("entr", logarithms.entropy)
ndtr = _define("ndtr", error_functions.normal)
ndtri = _define("ndtri", error_functions.normal_quantile)
log_ndtr = _define("log_ndtr", error_functions.log_of_normal)
i0 = _define("i0", bessel.i0)
i0e = _define("i0e", bessel.scaled_i0)
i1 = _define("i1", bessel.i1)
i1e = _define("i1e", bessel.scaled_i1)
