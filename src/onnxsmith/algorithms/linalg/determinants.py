"""Determinants, from LU factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, number, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.lu import factored
from onnxsmith.algorithms.linalg.matrices import ONE, diagonal, numbers, sizes
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted, filled, rank_of, size_of
from onnxsmith.types.dtypes import DType


def _sign(pivots: Tensor) -> Tensor:
    """-1 for each pair of rows that was exchanged, multiplied."""
    count = size_of(pivots, rank_of(pivots) - 1)
    moved = ~op.Equal(pivots, numbers(count))
    odd = op.Mod(op.ReduceSum(converted(moved, DType.INT64), [rank_of(pivots) - 1], keepdims=0), np.int64(2))
    return ONE - 2 * converted(odd, DType.DOUBLE)


@algorithm(has_gradient=True)
def determinant(a: Field) -> Field:
    """The determinant, of the factors."""
    factors = factored(a)
    return product_along(diagonal(factors.both)) * Field(_sign(factors.pivots))


def product_along(vectors: Field) -> Field:
    """The product of the last dimension."""
    axis = vectors.rank - 1
    if not vectors.is_complex:
        return Field(op.ReduceProd(vectors.re, [axis], keepdims=0))
    shape = sizes(vectors)[:-1]
    start = Field(filled(shape, 1.0, vectors.dtype), filled(shape, 0.0, vectors.dtype))

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (total,) = fields
        return Step([total * vectors.map(op.Gather, k, axis=axis)])

    return loop(size_of(vectors.re, axis), [start], [], step).fields[0]


@algorithm(name="log_determinant_of_factors")
def sign_and_log(factors: Field, pivots: Tensor) -> tuple[Field, Tensor]:
    """The sign (or the phase), and the logarithm of the size."""
    entries = diagonal(factors)
    size = entries.size()
    total = op.ReduceSum(op.Log(size), [rank_of(size) - 1], keepdims=0)
    sign = product_along(entries.phase()) * Field(_sign(pivots))
    is_singular = op.Equal(total, np.float64(-np.inf))
    return where(is_singular, number(0), sign), total
