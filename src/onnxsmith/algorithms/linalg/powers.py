"""Powers and the exponential of matrices, powers of vectors, and products of vectors of three."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.matrices import batch_identity, sizes
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, converted, filled, rank_of
from onnxsmith.types.dtypes import DType

#: Terms of the series, enough in double precision for matrices of norm one.
_TERMS = 20


@algorithm
def matrix_exp(a: Field) -> Field:
    """The series of a matrix divided by a power of two that makes it small, squared as often."""
    shape = sizes(a)
    sums = op.ReduceSum(a.size(), [a.rank - 2], keepdims=1)
    norm = op.ReduceMax(sums, [a.rank - 1], keepdims=1)
    halvings = op.Ceil(op.Log(op.Max(norm, np.float64(1))) / np.log(np.float64(2)))
    halvings = op.Min(halvings, np.float64(1000))
    small = a.map(lambda part: part / op.Pow(np.float64(2), halvings))
    ones = batch_identity(shape[:-2], shape[-2], shape[-1], a)

    def term(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (total,) = fields
        divisor = _TERMS - converted(i, DType.DOUBLE)
        return Step([ones + (small @ total).map(lambda part: part / divisor)])

    series = loop(_TERMS, [ones], [], term).fields[0]

    def squared(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (made,) = fields
        return Step([where(converted(i, DType.DOUBLE) < halvings, made @ made, made)])

    times = converted(op.ReduceMax(halvings, keepdims=0), DType.INT64)
    return loop(times, [series], [], squared).fields[0]


@algorithm
def matrix_power(z: Field, exponent: int) -> Field:
    """A matrix multiplied by itself, for an exponent of one or more."""
    made: Field | None = None
    while exponent:
        if exponent & 1:
            made = z if made is None else made @ z
        exponent >>= 1
        z = z @ z if exponent else z
    assert made is not None, "an exponent of one or more"
    return made


@algorithm
def cross(a: Field, b: Field, axis: int) -> Field:
    """The product of vectors of three, of the same shape, along an axis."""

    def turned(z: Field, order: list[int]) -> Field:
        return z.map(op.Gather, np.array(order), axis=axis)

    return turned(a, [1, 2, 0]) * turned(b, [2, 0, 1]) - turned(a, [2, 0, 1]) * turned(b, [1, 2, 0])


@algorithm(name="vandermonde")
def powers(x: Field, count: Size) -> Field:
    """1, x, x², … along a new last dimension."""
    shape = sizes(x)
    one = filled(shape, 1, x.dtype)
    start = Field(one, filled(shape, 0, x.dtype) if x.is_complex else None)

    def step(_: Tensor, fields: Sequence[Field], __: Sequence[Tensor]) -> Step:
        (power,) = fields
        return Step([power * x], collected=power)

    made = loop(count, [start], [], step, collects=start).collected
    assert made is not None  # a power in each step
    return made.map(lambda part: op.Transpose(part, perm=[*range(1, rank_of(part)), 0]))
