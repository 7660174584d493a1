"""The discrete Fourier transform along the last axis, unscaled, by whichever way is precise for the length.

ONNX Runtime's `DFT` is precise for powers of two only. Other lengths are products with the matrix of the transform,
lengths with divisors are done in two parts, and long primes by a convolution that has a power of two as its length. So
are long dynamic lengths, whose matrix would not fit in memory: the model chooses when it runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from onnxsmith.algorithms.complex_numbers.field import Field, alike, imaginary, joined
from onnxsmith.algorithms.complex_numbers.pair import Complex, packed, unpacked
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import (
    Size,
    cast,
    constant,
    converted,
    dtype_of,
    int64s,
    numbers_until,
    product,
    rank_of,
    reshape,
    sizes_of,
    with_last,
)
from onnxsmith.types.dtypes import DType

#: Up to this length the matrix of a transform is stored; beyond, the model computes it.
_STORED = 64
#: From this length on a power of two is ONNX's `DFT`.
_FAST = 64
#: From this length on a transform is not one matrix product.
_LONG = 512
#: The opset that `DFT` came with.
_HAS_DFT = 17


def along(z: Field, axis: int, function: Callable[[Field], Field]) -> Field:
    """A function of the last axis on another one."""
    return function(z.map(with_last, axis)).map(with_last, axis)


def scale_of(counts: Sequence[Size], norm: str | None, inverse: bool) -> float | TensorOrArray | None:
    """The factor of a result, if it has one: the inverse is divided by the count unless `norm` says otherwise."""
    root = norm == "ortho"
    if not root and (norm == "forward") == inverse:
        return None
    count = product(counts)
    if isinstance(count, int):
        return 1 / (math.sqrt(count) if root else count) if count else 1.0
    number = cast(count, DType.DOUBLE)
    return op.Reciprocal(op.Sqrt(number) if root else number)


@algorithm(name="fourier_transform")
def transform(z: Field, count: Size, inverse: bool) -> Field:
    """All `count` frequencies of `count` complex or real numbers."""
    if not isinstance(count, int):
        return _chosen(
            count,
            lambda: z @ _matrix(count, count, count, inverse, z.dtype),
            lambda: _by_dynamic_convolution(z, count, inverse),
        )
    if count < _FAST:
        return z @ _matrix(count, count, count, inverse, z.dtype)
    if count & (count - 1) == 0:
        return _power_of_two(z, inverse)
    if count <= _LONG:
        return z @ _matrix(count, count, count, inverse, z.dtype)
    divisor = max(each for each in range(1, math.isqrt(count) + 1) if count % each == 0)
    if divisor > 1:
        return _in_two_parts(z, divisor, count // divisor, inverse)
    return (
        _by_convolution(z, count, inverse)
        if count > 2 * _LONG
        else z @ _matrix(count, count, count, inverse, z.dtype)
    )


@algorithm(name="half_fourier_transform")
def half_transform(x: Tensor, count: Size, inverse: bool) -> Field:
    """The first half of the frequencies of real numbers, from which the others follow."""
    half = count // 2 + 1
    if isinstance(count, int) and count >= _FAST and (count > _LONG or count & (count - 1) == 0):
        whole = transform(Field(x), count, inverse)
        return whole.map(lambda part: op.Slice(part, [0], [half], [rank_of(part) - 1]))
    if isinstance(count, int):
        return Field(x) @ _matrix(count, count, half, inverse, dtype_of(x))

    def of_many() -> Field:
        whole = _by_dynamic_convolution(Field(x), count, inverse)
        return whole.map(lambda part: op.Slice(part, [0], int64s([half]), [rank_of(part) - 1]))

    return _chosen(count, lambda: Field(x) @ _matrix(count, count, half, inverse, dtype_of(x)), of_many)


@algorithm(name="real_fourier_transform")
def real_transform(z: Field, count: Size, inverse: bool) -> Tensor:
    """Real numbers from the first half of their frequencies."""
    half = count // 2 + 1
    if isinstance(count, int) and count >= _FAST and (count > _LONG or count & (count - 1) == 0):
        axis = z.rank - 1
        rest = z.conj().map(op.Slice, [count - half], [0], [axis], [-1])
        return transform(joined([z, rest], axis), count, inverse).re

    def of_few() -> Tensor:
        matrix = _matrix(count, half, count, inverse, z.dtype)
        weight = _weights(count, half, z.dtype)
        scaled = alike(z, Field(z.re, z.re)).map(lambda part: part * weight)
        return op.MatMul(scaled.re, matrix.re) - op.MatMul(imaginary(scaled), imaginary(matrix))

    if isinstance(count, int) or op.version < _HAS_DFT:
        return of_few()

    def of_many() -> Tensor:
        axis = z.rank - 1
        start = int64s([count - half])
        rest = z.conj().map(op.Slice, start, [0], [axis], [-1])
        return _by_dynamic_convolution(joined([z, rest], axis), count, inverse).re

    return op.If(
        op.Greater(cast(count, DType.INT64), np.int64(_LONG)), then_branch=of_many, else_branch=of_few
    )


def _chosen(count: Size, of_few: Callable[[], Field], of_many: Callable[[], Field]) -> Field:
    """One of two transforms of a dynamic length; of a long one the matrix would not fit in memory."""

    def parts(made: Field) -> tuple[Tensor, Tensor]:
        return made.re, imaginary(made)

    if op.version < _HAS_DFT:
        return of_few()
    is_long = op.Greater(cast(count, DType.INT64), np.int64(_LONG))
    return Field(
        *several(
            op.If,
            is_long,
            outputs=2,
            then_branch=lambda: parts(of_many()),
            else_branch=lambda: parts(of_few()),
        )
    )


def _weights(count: Size, half: Size, dtype: DType) -> TensorOrArray:
    """How often each frequency of the first half stands for: two but for the first, and the last of an even count."""
    if isinstance(count, int) and isinstance(half, int):
        weight = np.full(half, 2, dtype.numpy)
        weight[0] = 1
        if count % 2 == 0:
            weight[-1] = 1
        return weight
    places = numbers_until(half)
    own = op.Mod(op.Sub(cast(count, DType.INT64), places), cast(count, DType.INT64))
    return op.Where(op.Equal(own, places), cast(1, dtype), cast(2, dtype))


def _matrix(count: Size, rows: Size, columns: Size, inverse: bool, dtype: DType) -> Field:
    """exp(∓2πi j k / count). The product j k is taken modulo the count first, in whole numbers.

    The sine of half turns is 0 and not nearly: what is real stays so, and its angle is π, never -π.
    """
    if isinstance(count, int) and isinstance(rows, int) and isinstance(columns, int) and count <= _STORED:
        numbers = np.outer(np.arange(rows), np.arange(columns)) % count
        angle = numbers * (2 * np.pi / count)
        sine = np.where(2 * numbers % count == 0, 0.0, np.sin(angle) if inverse else -np.sin(angle))
        quarters = (4 * numbers % count == 0) & (2 * numbers % count != 0)
        cosine = np.where(quarters, 0.0, np.cos(angle))
        return Field(constant(cosine.astype(dtype.numpy)), constant(sine.astype(dtype.numpy)))
    modulus = cast(count, DType.INT64)
    products = op.Unsqueeze(numbers_until(rows), [1]) * op.Unsqueeze(numbers_until(columns), [0])
    part = converted(op.Mod(products, modulus), DType.DOUBLE) / cast(count, DType.DOUBLE)
    angle = part * (2 * np.pi if inverse else -2 * np.pi)
    is_half = op.Equal(op.Mod(products * 2, modulus), 0)
    sine = op.Where(is_half, 0, op.Sin(angle))
    return Field(converted(op.Cos(angle), dtype), converted(sine, dtype))


def _power_of_two(z: Field, inverse: bool) -> Field:
    """ONNX's transform forwards; backwards it is that of the conjugates, conjugate."""
    z = alike(z, Field(z.re, z.re))
    z = z.conj() if inverse else z
    whole = packed(Complex(z.re, imaginary(z)))
    rank = rank_of(whole)
    is_vector = rank == 2  # ONNX's needs a batch
    whole = op.Unsqueeze(whole, [0]) if is_vector else whole
    axis = rank_of(whole) - 2
    made = op.DFT(whole, axis=axis) if op.version < 20 else op.DFT(whole, None, np.int64(axis))
    made = unpacked(op.Squeeze(made, [0]) if is_vector else made)
    result = Field(made.real, made.imag)
    return result.conj() if inverse else result


def _in_two_parts(z: Field, first: int, second: int, inverse: bool) -> Field:
    """Number j = second j1 + j2 gives frequency k = k1 + first k2: one transform after the other."""
    shape = sizes_of(z.re)
    batch, count = shape[:-1], first * second
    table = z.map(reshape, [*batch, first, second]).transposed()
    table = transform(table, first, inverse).transposed()  # k1, j2
    angle = np.outer(np.arange(first), np.arange(second)) * (2 * np.pi / count)
    sine = np.sin(angle) if inverse else -np.sin(angle)
    turn = Field(constant(np.cos(angle).astype(z.dtype.numpy)), constant(sine.astype(z.dtype.numpy)))
    table = transform(table * turn, second, inverse).transposed()  # k2, k1
    return table.map(reshape, [*batch, count])


def _by_convolution(z: Field, count: int, inverse: bool) -> Field:
    """Bluestein: j k = (j² + k² - (j - k)²) / 2 makes the transform a convolution, which transforms do."""
    size = 1 << (2 * count - 2).bit_length()
    squares = np.arange(count) ** 2 % (2 * count)
    chirp = np.exp((1j if inverse else -1j) * np.pi * squares / count)
    filter_ = np.zeros(size, np.complex128)
    filter_[:count] = chirp.conj()
    filter_[-(count - 1) :] = chirp.conj()[:0:-1]
    spectrum = np.fft.fft(filter_) / size
    turn, response = _constant(chirp, z.dtype), _constant(spectrum, z.dtype)
    pads = [0] * (2 * z.rank)
    pads[-1] = size - count
    padded = (z * turn).map(lambda part: op.Pad(part, int64s(pads), cast(0, z.dtype)))
    made = _power_of_two(_power_of_two(padded, False) * response, True)
    return made.map(op.Slice, [0], [count], [z.rank - 1]) * turn


def _by_dynamic_convolution(z: Field, count: Tensor, inverse: bool) -> Field:
    """The same for a dynamic length: the model finds the power of two above it."""
    length = cast(count, DType.INT64)
    last = converted(op.Add(length, length) - 1, DType.DOUBLE)
    # An odd number is no power of two, so that rounding cannot meet the next one.
    bits = op.Ceil(op.Log(last) / math.log(2))
    size = op.Pow(np.int64(2), converted(bits, DType.INT64))
    turn = _chirp(numbers_until(count), length, inverse)
    places = numbers_until(size)
    away = op.Min(places, size - places)
    is_inside = away < length
    filter_ = _chirp(op.Where(is_inside, away, np.int64(0)), length, not inverse)
    filter_ = filter_.map(lambda part: op.Where(is_inside, part, np.float64(0)))
    response = _power_of_two(filter_.cast(z.dtype), False)
    scale = op.Reciprocal(converted(size, z.dtype))
    turn = turn.cast(z.dtype)
    before = np.zeros(2 * z.rank - 1, np.int64)
    pads = op.Concat(before, op.Reshape(size - length, [1]), axis=0)
    padded = (z * turn).map(lambda part: op.Pad(part, pads, cast(0, z.dtype)))
    made = _power_of_two(_power_of_two(padded, False) * response, True)
    end = op.Reshape(length, [1])
    cut = made.map(lambda part: op.Slice(part, [0], end, [z.rank - 1]) * scale)
    return cut * turn


def _chirp(places: Tensor, length: Tensor, inverse: bool) -> Field:
    """exp(∓πi j² / length), the square taken modulo twice the length first."""
    squares = op.Mod(places * places, length + length)
    angle = (
        converted(squares, DType.DOUBLE) / converted(length, DType.DOUBLE) * (np.pi if inverse else -np.pi)
    )
    return Field(op.Cos(angle), op.Sin(angle))


def _constant(array: npt.NDArray[np.complex128], dtype: DType) -> Field:
    return Field(constant(array.real.astype(dtype.numpy)), constant(array.imag.astype(dtype.numpy)))
