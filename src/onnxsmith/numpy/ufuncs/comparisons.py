"""Comparisons, and the smaller or larger of two. Complex numbers have lexicographic order."""

from __future__ import annotations

from onnxsmith.algorithms import elementary
from onnxsmith.algorithms.complex_numbers.field import Field, imaginary
from onnxsmith.algorithms.complex_numbers.selecting import select
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted
from onnxsmith.numpy.ufunc import ComplexLoop, RealLoop, define
from onnxsmith.numpy.ufuncs import shortcuts
from onnxsmith.types.dtypes import DType

_ORDER = {
    "Less": "Greater",
    "Greater": "Less",
    "LessOrEqual": "GreaterOrEqual",
    "GreaterOrEqual": "LessOrEqual",
}


def _compared(name: str) -> RealLoop:
    """An operator that compares, also a signed with an unsigned 64-bit integer, which no type holds both of."""

    def call(x: Tensor, y: Tensor) -> Tensor:
        if x.dtype is DType.BOOL:
            x, y = converted(x, DType.UINT8), converted(y, DType.UINT8)
        if x.dtype is y.dtype:
            return getattr(op, name)(x, y)
        if x.dtype is DType.UINT64:
            return _compared_to_unsigned(_ORDER[name], y, x)
        return _compared_to_unsigned(name, x, y)

    return call


def _compared_to_unsigned(name: str, x: Tensor, y: Tensor) -> Tensor:
    is_negative = x < 0
    plain = getattr(op, name)(converted(x, DType.UINT64), y)
    return is_negative | plain if name.startswith("Less") else ~is_negative & plain


def _equal(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype is y.dtype:
        return op.Equal(x, y)
    signed, unsigned = (x, y) if y.dtype is DType.UINT64 else (y, x)
    return _compared_to_unsigned("Equal", signed, unsigned)


def _not_equal(x: Tensor, y: Tensor) -> Tensor:
    return ~_equal(x, y)


def _compared_complex(name: str) -> ComplexLoop:
    strict = name.removesuffix("OrEqual")

    def call(x: Field, y: Field) -> Tensor:
        are_numbers = ~(op.IsNaN(imaginary(x)) | op.IsNaN(imaginary(y)))
        by_real = getattr(op, strict)(x.re, y.re) & are_numbers
        by_imaginary = op.Equal(x.re, y.re) & getattr(op, name)(imaginary(x), imaginary(y))
        return by_real | by_imaginary

    return call


def _equal_complex(x: Field, y: Field) -> Tensor:
    return op.Equal(x.re, y.re) & op.Equal(imaginary(x), imaginary(y))


def _not_equal_complex(x: Field, y: Field) -> Tensor:
    return ~_equal_complex(x, y)


def _complex_extreme(name: str, *, of_numbers: bool) -> ComplexLoop:
    compared = _compared_complex(name)

    def call(x: Field, y: Field) -> Field:
        is_first = compared(x, y)
        assert isinstance(is_first, Tensor)  # a comparison gives one
        return select((y if of_numbers else x).is_nan() | is_first, x, y)

    return call


equal = define("equal", _equal, _equal_complex)
not_equal = define("not_equal", _not_equal, _not_equal_complex)
less = define("less", _compared("Less"), _compared_complex("Less"))
less_equal = define("less_equal", _compared("LessOrEqual"), _compared_complex("LessOrEqual"))
greater = define("greater", _compared("Greater"), _compared_complex("Greater"))
greater_equal = define("greater_equal", _compared("GreaterOrEqual"), _compared_complex("GreaterOrEqual"))
maximum = define(
    "maximum",
    elementary.maximum,
    _complex_extreme("GreaterOrEqual", of_numbers=False),
    reduce=shortcuts.extreme(is_max=True),
)
minimum = define(
    "minimum",
    elementary.minimum,
    _complex_extreme("LessOrEqual", of_numbers=False),
    reduce=shortcuts.extreme(is_max=False),
)
fmax = define("fmax", elementary.fmax, _complex_extreme("GreaterOrEqual", of_numbers=True))
fmin = define("fmin", elementary.fmin, _complex_extreme("LessOrEqual", of_numbers=True))
