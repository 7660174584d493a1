"""Elementary functions of one element, and extremes of two, each in a precision that its formula needs.

ONNX Runtime has some of them for single precision only; of doubles they are the formulas of `special`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOperator, op
from onnxsmith.algorithms.special import circular, error_functions
from onnxsmith.algorithms.special.float_parts import chosen, copysign
from onnxsmith.algorithms.values import cast, converted, dtype_of
from onnxsmith.types.dtypes import DType

#: Those that are operators of ONNX.
Name: TypeAlias = Literal[
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp", "Log", "Reciprocal", "Sin", "Sinh",
    "Sqrt", "Tan", "Tanh",
]  # fmt: skip

#: Those that ONNX Runtime has for single precision only.
_IN_DOUBLE: dict[Name, Callable[[Tensor], Tensor]] = {
    "Acos": circular.acos,
    "Acosh": circular.acosh,
    "Asin": circular.asin,
    "Asinh": circular.asinh,
    "Atan": circular.atan,
    "Atanh": circular.atanh,
    "Cosh": circular.cosh,
    "Erf": error_functions.erf,
    "Sinh": circular.sinh,
    "Tan": circular.tan,
}


def function_of(name: Name, x: Tensor) -> Tensor:
    """An operator's function with as many digits as its element type has."""
    if dtype_of(x) is DType.DOUBLE and name in _IN_DOUBLE:
        return _IN_DOUBLE[name](x)
    return getattr(op, name)(x)


def logarithm(x: Tensor, base: float) -> Tensor:
    """In double precision: of powers it is a whole number only with more digits than the result has."""
    return op.Log(converted(x, DType.DOUBLE)) / np.log(base)


def exp2(x: Tensor) -> Tensor:
    """Two to the power of x."""
    return op.Pow(cast(2, dtype_of(x)), x)


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for what is no number. Truth values are as they are."""
    dtype = dtype_of(x)
    if dtype is DType.BOOL:
        return x
    return op.Where(op.IsNaN(x), 0, op.Sign(x)) if dtype.is_float else op.Sign(x)


def trunc(x: Tensor) -> Tensor:
    """Rounded towards zero, which has the sign of what was there; integers are as they are."""
    return chosen(x < 0, op.Ceil(x), op.Floor(x)) if dtype_of(x).is_float else x


@algorithm(has_gradient=True)
def modf(x: Tensor) -> tuple[Tensor, Tensor]:
    """The fraction and the whole number, both with the sign of what was there."""
    whole = trunc(x)
    fraction = op.Where(op.IsInf(x), 0, x - whole)
    return copysign(fraction, x), whole


@algorithm(has_gradient=True)
def cbrt(x: Tensor) -> Tensor:
    """The third root of a double, by one step of Newton's method behind a power; what is no finite number stays."""
    zero, size = np.float64(0), abs(x)
    root = op.Pow(size, np.float64(1 / 3))
    square = root * root
    better = root - (root - size / square) / 3
    better = op.Where(x < zero, -better, better)
    is_plain = (size > zero) & (size < np.inf)
    return op.Where(is_plain, better, x)


def is_nan(x: Tensor) -> Tensor:
    """True if it is no number; of integers, never."""
    return op.IsNaN(x) if dtype_of(x).is_float else ~op.Equal(x, x)


def is_infinite(x: Tensor) -> Tensor:
    """True if it is infinite; of integers, never."""
    return op.IsInf(x) if dtype_of(x).is_float else ~op.Equal(x, x)


def maximum(x: Tensor, y: Tensor) -> Tensor:
    """The larger one, and NaN beside NaN; of truth values, whether one is true."""
    return x | y if dtype_of(x) is DType.BOOL else op.Max(x, y)


def minimum(x: Tensor, y: Tensor) -> Tensor:
    """The smaller one, and NaN beside NaN; of truth values, whether both are true."""
    return x & y if dtype_of(x) is DType.BOOL else op.Min(x, y)


@algorithm(has_gradient=True)
def fmax(x: Tensor, y: Tensor) -> Tensor:
    """The larger one, and the one that is a number if the other is not."""
    if not dtype_of(x).is_float:
        return maximum(x, y)
    return _number_of(op.GreaterOrEqual if _takes_first(x) else op.Greater, x, y)


@algorithm(has_gradient=True)
def fmin(x: Tensor, y: Tensor) -> Tensor:
    """The smaller one, and the one that is a number if the other is not."""
    if not dtype_of(x).is_float:
        return minimum(x, y)
    return _number_of(op.LessOrEqual if _takes_first(x) else op.Less, x, y)


def _takes_first(x: Tensor) -> bool:
    """True if of two zeros the first one is taken, as numpy does for halves; of others the second."""
    return x.dtype is DType.FLOAT16


def _number_of(beats: TensorOperator, x: Tensor, y: Tensor) -> Tensor:
    return chosen(beats(x, y) | op.IsNaN(y), x, y)
