"""Sign, exponent and fraction of floating-point numbers, from their bits; exact, of float16, float32 and float64.

`BitCast` came with opset 26. Before, the sign of NaN is not seen; neighbours and fractions are refused there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import constant, converted, dtype_of, like
from onnxsmith.core.value import TensorOrArray, TensorValue
from onnxsmith.types.dtypes import DType


class _Layout(NamedTuple):
    """How the bits of a type are divided."""

    #: The integers of the same width, and those that bits are computed in.
    bits: DType
    wide: DType
    fraction: int
    bias: int


_LAYOUTS = {
    DType.FLOAT16: _Layout(DType.INT16, DType.INT32, 10, 15),
    DType.FLOAT: _Layout(DType.INT32, DType.INT32, 23, 127),
    DType.DOUBLE: _Layout(DType.INT64, DType.INT64, 52, 1023),
}


def _layout(x: TensorValue) -> _Layout:
    return _LAYOUTS[dtype_of(x)]


def _bits(x: TensorValue) -> TensorValue:
    """The bits as a signed integer."""
    layout = _layout(x)
    return converted(op.BitCast(x, to=layout.bits), layout.wide)


def _from_bits(bits: TensorValue, dtype: DType) -> TensorValue:
    return op.BitCast(converted(bits, _LAYOUTS[dtype].bits), to=dtype)


def chosen(condition: TensorValue, x: TensorOrArray, y: TensorOrArray) -> TensorValue:
    """One of two, as `Where` gives it, but for zeros: ONNX Runtime's `Where` loses their sign, integers have none."""
    kind = next(dtype_of(each) for each in (x, y) if isinstance(each, TensorValue))
    if kind not in _LAYOUTS or not op.has("BitCast"):
        return op.Where(condition, x, y)
    bits = _LAYOUTS[kind].bits
    return op.BitCast(op.Where(condition, _as_bits(x, bits), _as_bits(y, bits)), to=kind)


def _as_bits(x: TensorOrArray, bits: DType) -> TensorOrArray:
    if isinstance(x, TensorValue):
        return op.BitCast(x, to=bits)
    return np.asarray(x).view(bits.numpy)


def signbit(x: TensorValue) -> TensorValue:
    """Whether the sign is minus, of zero and NaN too."""
    if op.has("BitCast"):
        bits = _bits(x)
        return op.Less(bits, like(0, bits))
    is_zero = op.Equal(x, like(0, x))
    return op.Less(op.Where(is_zero, op.Reciprocal(x), x), like(0, x))


@algorithm
def copysign(x: TensorValue, y: TensorValue) -> TensorValue:
    """The size of x with the sign of y."""
    size = op.Abs(x)
    if not op.has("BitCast"):
        return op.Where(signbit(y), op.Neg(size), size)
    bits = _layout(x).bits
    sign = op.BitwiseAnd(op.BitCast(y, to=bits), np.asarray(np.iinfo(bits.numpy).min, bits.numpy))
    return op.BitCast(op.BitwiseOr(op.BitCast(size, to=bits), sign), to=dtype_of(x))


def _size_bits(x: TensorValue) -> TensorValue:
    """The bits without the sign: neighbours in size are neighbours here."""
    return _bits(op.Abs(x))


@algorithm
def nextafter(x: TensorValue, y: TensorValue) -> TensorValue:
    """The next number after x in the direction of y."""
    size = _size_bits(x)
    zero, one = like(0, size), like(1, size)
    is_away = op.Equal(op.Less(x, y), op.Less(like(0, x), x))
    is_zero = op.Equal(x, like(0, x))
    moved = op.Where(op.Or(is_zero, is_away), op.Add(size, one), op.Sub(size, one))
    next_size = _from_bits(op.Max(moved, zero), dtype_of(x))
    is_negative = op.Where(is_zero, op.Less(y, like(0, y)), op.Less(x, like(0, x)))
    made = chosen(is_negative, op.Neg(next_size), next_size)
    # Of equal zeros numpy gives the second, but for float16.
    made = chosen(op.Equal(x, y), x if x.dtype is DType.FLOAT16 else y, made)
    return chosen(op.Or(op.IsNaN(x), op.IsNaN(y)), op.Add(x, y), made)


@algorithm
def spacing(x: TensorValue) -> TensorValue:
    """The distance to the next number away from zero, with the sign of x; as numpy, of float16 to the next above."""
    if x.dtype is DType.FLOAT16:
        above = nextafter(x, constant(like(np.inf, x)))
        return op.Where(op.IsInf(x), like(np.nan, x), op.Sub(above, x))
    size = _size_bits(x)
    above = _from_bits(op.Add(size, like(1, size)), dtype_of(x))
    distance = op.Sub(above, op.Abs(x))
    signed = op.Where(op.Less(x, like(0, x)), op.Neg(distance), distance)
    is_finite = op.Less(op.Abs(x), like(np.inf, x))
    return op.Where(is_finite, signed, like(np.nan, x))


def power_of_two(exponent: TensorValue, dtype: DType) -> TensorValue:
    """2 to the power of an integer for which the result is a normal number."""
    if not op.has("BitCast"):
        return op.Pow(np.asarray(2, dtype.numpy), converted(exponent, dtype))
    layout = _LAYOUTS[dtype]
    whole = converted(exponent, layout.wide)
    biased = op.Add(whole, like(layout.bias, whole))
    return _from_bits(op.Mul(biased, like(1 << layout.fraction, whole)), dtype)


@algorithm
def frexp(x: TensorValue) -> tuple[TensorValue, TensorValue]:
    """A fraction of at least one half in size and an exponent in int32; zero and infinity are their own, with 0."""
    layout, dtype = _layout(x), dtype_of(x)
    size = op.Abs(x)
    shift = layout.fraction + 2
    # Numbers with fewer bits than the fraction has are made normal first.
    is_small = op.Less(size, like(np.finfo(np.dtype(dtype.numpy)).tiny, x))
    scale = 2.0**shift
    if dtype is DType.FLOAT16:
        scaled = op.Mul(op.Mul(size, like(2.0 ** (shift // 2), x)), like(2.0 ** (shift - shift // 2), x))
    else:
        scaled = op.Mul(size, like(scale, x))
    bits = _bits(op.Where(is_small, scaled, size))
    field = op.Div(bits, like(1 << layout.fraction, bits))
    fraction_bits = op.Sub(bits, op.Mul(field, like(1 << layout.fraction, bits)))
    half = like((layout.bias - 1) << layout.fraction, bits)
    fraction = _from_bits(op.Add(fraction_bits, half), dtype)
    exponent = op.Sub(field, like(layout.bias - 1, bits))
    exponent = op.Where(is_small, op.Sub(exponent, like(shift, bits)), exponent)
    is_plain = op.And(op.Greater(size, like(0, x)), op.Less(size, like(np.inf, x)))
    signed = op.Where(op.Less(x, like(0, x)), op.Neg(fraction), fraction)
    return chosen(is_plain, signed, x), converted(op.Where(is_plain, exponent, like(0, bits)), DType.INT32)


@algorithm
def ldexp(x: TensorValue, exponent: TensorValue) -> TensorValue:
    """x times a power of two, rounded once."""
    dtype = dtype_of(x)
    if dtype is not DType.DOUBLE:
        # In the next wider type the product is exact.
        wide = DType.FLOAT if dtype is DType.FLOAT16 else DType.DOUBLE
        limit = 100 if dtype is DType.FLOAT16 else 500
        factor = power_of_two(_clipped(exponent, limit), wide)
        return converted(op.Mul(converted(x, wide), factor), dtype)
    fraction, own = frexp(x)
    total = op.Add(_clipped(converted(exponent, DType.INT64), 5000), converted(own, DType.INT64))
    far = np.int64(1000)
    last = op.Where(
        op.Less(total, np.int64(-1000)),
        np.int64(-1000),
        op.Where(op.Greater(total, far), far, np.int64(0)),
    )
    # The first factor leaves all bits of the fraction, so that only the second product is rounded.
    first = _clipped(op.Sub(total, last), 1000)
    made = op.Mul(op.Mul(fraction, power_of_two(first, dtype)), power_of_two(last, dtype))
    is_plain = op.And(op.Not(op.Equal(x, like(0, x))), op.Less(op.Abs(x), like(np.inf, x)))
    return chosen(is_plain, made, x)


def _clipped(value: TensorValue, limit: int) -> TensorValue:
    return op.Min(op.Max(value, like(-limit, value)), like(limit, value))
