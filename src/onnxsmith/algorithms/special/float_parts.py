"""Sign, exponent and fraction of floating-point numbers, and their neighbours; exact, of every width.

They are read from the bits. `BitCast` came with opset 26: before, they are computed, and the sign of NaN is not seen.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import constant, converted, dtype_of, like, where
from onnxsmith.types.dtypes import DType


class _Layout(NamedTuple):
    """How the bits of a type are divided."""

    #: The integers of the same width, and those that bits are computed in.
    bits: DType
    wide: DType
    fraction: int
    bias: int

    @property
    def least(self) -> int:
        """The exponent of the smallest number."""
        return 1 - self.bias - self.fraction


_LAYOUTS = {
    DType.FLOAT16: _Layout(DType.INT16, DType.INT32, 10, 15),
    DType.BFLOAT16: _Layout(DType.INT16, DType.INT32, 7, 127),
    DType.FLOAT: _Layout(DType.INT32, DType.INT32, 23, 127),
    DType.DOUBLE: _Layout(DType.INT64, DType.INT64, 52, 1023),
}


def _layout(x: Tensor) -> _Layout:
    return _LAYOUTS[dtype_of(x)]


def _bits(x: Tensor) -> Tensor:
    """The bits as a signed integer."""
    layout = _layout(x)
    return converted(op.BitCast(x, to=layout.bits), layout.wide)


def _from_bits(bits: Tensor, dtype: DType) -> Tensor:
    return op.BitCast(converted(bits, _LAYOUTS[dtype].bits), to=dtype)


def chosen(condition: Tensor, x: TensorOrArray, y: TensorOrArray) -> Tensor:
    """One of two, as `Where` gives it, but for zeros: ONNX Runtime's `Where` loses their sign, integers have none."""
    kind = next(dtype_of(each) for each in (x, y) if isinstance(each, Tensor))
    if kind not in _LAYOUTS or not op.has("BitCast"):
        return where(condition, x, y)
    bits = _LAYOUTS[kind].bits
    return op.BitCast(op.Where(condition, _as_bits(x, bits), _as_bits(y, bits)), to=kind)


def _as_bits(x: TensorOrArray, bits: DType) -> TensorOrArray:
    if isinstance(x, Tensor):
        return op.BitCast(x, to=bits)
    return np.asarray(x).view(bits.numpy)


def signbit(x: Tensor) -> Tensor:
    """True if the sign is minus, of zero and NaN too."""
    if dtype_of(x) is DType.BOOL:
        return x ^ x
    if not dtype_of(x).is_float:
        return x < 0
    if op.has("BitCast"):
        bits = _bits(x)
        return bits < 0
    is_zero = op.Equal(x, like(0, x))
    return op.Where(is_zero, op.Reciprocal(x), x) < 0


@algorithm(has_gradient=True)
def copysign(x: Tensor, y: Tensor) -> Tensor:
    """The size of x with the sign of y."""
    size = abs(x)
    if not op.has("BitCast"):
        # ONNX Runtime's `Where` would lose the sign of zero.
        return size * op.Where(signbit(y), like(-1, y), like(1, y))
    bits = _layout(x).bits
    sign = op.BitwiseAnd(op.BitCast(y, to=bits), np.asarray(np.iinfo(bits.numpy).min, bits.numpy))
    return op.BitCast(op.BitwiseOr(op.BitCast(size, to=bits), sign), to=dtype_of(x))


def _size_bits(x: Tensor) -> Tensor:
    """The bits without the sign: neighbours in size are neighbours here."""
    return _bits(abs(x))


@algorithm(has_gradient=True)
def nextafter(x: Tensor, y: Tensor) -> Tensor:
    """The next number after x in the direction of y."""
    if not op.has("BitCast"):
        return _next_computed(x, y)
    size = _size_bits(x)
    zero, one = like(0, size), like(1, size)
    is_away = op.Equal(x < y, op.Less(like(0, x), x))
    is_zero = op.Equal(x, like(0, x))
    moved = op.Where(is_zero | is_away, size + one, size - one)
    next_size = _from_bits(op.Max(moved, zero), dtype_of(x))
    is_negative = op.Where(is_zero, y < 0, x < 0)
    made = chosen(is_negative, -next_size, next_size)
    # Of equal zeros numpy gives the second; before 2.5 not of float16.
    is_second = x.dtype is not DType.FLOAT16 or _gives_second_zero()
    made = chosen(op.Equal(x, y), y if is_second else x, made)
    return chosen(op.IsNaN(x) | op.IsNaN(y), x + y, made)


@functools.cache
def _gives_second_zero() -> bool:
    """True if the installed numpy gives the second of two equal zeros of float16, as of all other types."""
    return bool(np.signbit(np.nextafter(np.float16(0.0), np.float16(-0.0))))


def largest(dtype: DType) -> float:
    """The largest finite number of an element type; numpy knows none of bfloat16."""
    layout = _LAYOUTS[dtype]
    return (2.0 - 2.0**-layout.fraction) * 2.0**layout.bias


def _next_computed(x: Tensor, y: Tensor) -> Tensor:
    """The next number without a look at bits: by a step as long as the exponent says, in double precision."""
    dtype, layout, limit = dtype_of(x), _layout(x), np.float64(largest(dtype_of(x)))
    zero = np.float64(0)
    x, y = converted(x, DType.DOUBLE), converted(y, DType.DOUBLE)
    mantissa, exponent = _parts_computed(x)
    goes_up = y > x
    towards_zero = (x > zero) & ~goes_up | (x < zero) & goes_up
    # Below a power of two the steps are half as long.
    is_edge = towards_zero & op.Equal(abs(mantissa), 0.5)
    least = np.float64(layout.least)
    length = exponent - (converted(is_edge, DType.DOUBLE) + (layout.fraction + 1))
    step = op.Pow(np.float64(2), op.Max(op.Where(op.Equal(x, zero), least, length), least))
    result = x + op.Where(goes_up, step, -step)
    result = op.Where(op.IsInf(x), op.Sign(x) * limit, result)
    result = op.Where(op.Equal(x, y), y, result)
    beyond = abs(result) > limit
    result = op.Where(beyond, op.Sign(result) * np.inf, result)
    result = op.Where(op.IsNaN(x) | op.IsNaN(y), np.float64(np.nan), result)
    return converted(result, dtype)


@algorithm
def spacing(x: Tensor) -> Tensor:
    """The distance to the next number away from zero, with the sign of x; as numpy, of float16 to the next above."""
    if x.dtype is DType.FLOAT16:
        above = nextafter(x, constant(like(np.inf, x)))
        return op.Where(op.IsInf(x), np.nan, above - x)
    if op.has("BitCast"):
        size = _size_bits(x)
        above = _from_bits(size + 1, dtype_of(x))
    else:
        above = nextafter(abs(x), constant(like(np.inf, x)))
    distance = above - abs(x)
    signed = op.Where(x < 0, -distance, distance)
    is_finite = abs(x) < np.inf
    return op.Where(is_finite, signed, like(np.nan, x))


def power_of_two(exponent: Tensor, dtype: DType) -> Tensor:
    """2 to the power of an integer for which the result is a normal number."""
    if not op.has("BitCast"):
        return op.Pow(np.asarray(2, dtype.numpy), converted(exponent, dtype))
    layout = _LAYOUTS[dtype]
    whole = converted(exponent, layout.wide)
    biased = whole + like(layout.bias, whole)
    return _from_bits(biased * like(1 << layout.fraction, whole), dtype)


@algorithm
def frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """A fraction of at least one half in size and an exponent in int32; zero and infinity are their own, with 0."""
    layout, dtype = _layout(x), dtype_of(x)
    if not op.has("BitCast"):
        mantissa, exponent = _parts_computed(converted(x, DType.DOUBLE))
        return converted(mantissa, dtype), converted(exponent, DType.INT32)
    size = abs(x)
    shift = layout.fraction + 2
    # Numbers with fewer bits than the fraction has are made normal first.
    is_small = size < like(2.0 ** (1 - layout.bias), x)
    scale = 2.0**shift
    if dtype is DType.FLOAT16:
        scaled = size * like(2.0 ** (shift // 2), x) * like(2.0 ** (shift - shift // 2), x)
    else:
        scaled = size * like(scale, x)
    normal = op.Where(is_small, scaled, size)
    bits = _bits(normal)
    field = op.Div(bits, like(1 << layout.fraction, bits))
    exponent = field - like(layout.bias - 1, bits)
    # In two steps, so that the power of two is a normal number for the largest and the least.
    enlarged = normal * power_of_two(op.Sub(like(layout.bias + 1, bits), field), dtype)
    fraction = enlarged * 0.25
    exponent = op.Where(is_small, exponent - like(shift, bits), exponent)
    is_plain = (size > 0) & (size < np.inf)
    signed = op.Where(x < 0, -fraction, fraction)
    return chosen(is_plain, signed, x), converted(op.Where(is_plain, exponent, 0), DType.INT32)


def _parts_computed(x: Tensor) -> tuple[Tensor, Tensor]:
    """Fraction and exponent of a double, as one too; found by its logarithm, and mended."""
    zero, one, half = (np.float64(each) for each in (0, 1, 0.5))
    is_plain = op.Equal(x, zero) | (op.IsNaN(x) | op.IsInf(x))
    size = op.Where(is_plain, one, abs(x))
    exponent = op.Floor(op.Log(size) * (1 / np.log(2.0))) + one
    mantissa = _scaled(size, -exponent)
    # The logarithm may have fallen on the wrong side of a whole number.
    is_low, is_high = mantissa < half, mantissa >= one
    change = converted(is_high, DType.DOUBLE) - converted(is_low, DType.DOUBLE)
    exponent = exponent + change
    mantissa = _scaled(size, -exponent)
    mantissa = op.Where(x < zero, -mantissa, mantissa)
    return op.Where(is_plain, x, mantissa), op.Where(is_plain, zero, exponent)


def _scaled(x: Tensor, exponent: Tensor) -> Tensor:
    """x times two to a whole number, in two steps: the power alone may be out of range."""
    two = np.float64(2)
    half = op.Floor(exponent * 0.5)
    return x * op.Pow(two, half) * op.Pow(two, exponent - half)


@algorithm(has_gradient=True)
def ldexp(x: Tensor, exponent: Tensor) -> Tensor:
    """x times a power of two, rounded once."""
    dtype = dtype_of(x)
    if dtype is not DType.DOUBLE:
        # In the next wider type the product is exact.
        wide = DType.FLOAT if dtype is DType.FLOAT16 else DType.DOUBLE
        limit = 100 if wide is DType.FLOAT else 500
        factor = power_of_two(_clipped(exponent, limit), wide)
        return converted(converted(x, wide) * factor, dtype)
    fraction, own = frexp(x)
    total = _clipped(converted(exponent, DType.INT64), 5000) + converted(own, DType.INT64)
    far = np.int64(1000)
    last = op.Where(total < -1000, -1000, op.Where(total > far, far, np.int64(0)))
    # The first factor leaves all bits of the fraction, so that only the second product is rounded.
    first = _clipped(total - last, 1000)
    made = fraction * power_of_two(first, dtype) * power_of_two(last, dtype)
    is_plain = ~op.Equal(x, like(0, x)) & (abs(x) < np.inf)
    return chosen(is_plain, made, x)


def _clipped(value: Tensor, limit: int) -> Tensor:
    return op.Min(op.Max(value, like(-limit, value)), like(limit, value))
