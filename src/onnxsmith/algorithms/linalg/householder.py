"""QR factors by reflections: one for each column, which makes zeros below the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, number, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.matrices import (
    ONE,
    ZERO,
    batch_identity,
    collected_scalars,
    column,
    column_numbers,
    masked,
    row,
    row_numbers,
    rows_until,
    sizes,
    triangle,
)
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import Size, cast, least, size_of
from onnxsmith.types.dtypes import DType


def reflected(a: Field) -> tuple[Field, Field]:
    """R above the diagonal, the reflections' vectors below it, and their factors, as LAPACK's `geqrf` has them."""
    shape = sizes(a)
    rows, columns = row_numbers(shape[-2]), column_numbers(shape[-1])

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (a,) = fields
        vector, factor, top = reflection(column(a, k), k, rows)
        changed = a - vector * (factor.conj() * (vector.adjoint() @ a))
        is_below = (rows > k) & op.Equal(columns, k)
        is_top = op.Equal(rows, k) & op.Equal(columns, k)
        kept = (columns < k) | (rows < k)
        made = where(kept, a, where(is_below, vector, where(is_top, top, changed)))
        return Step([made], collected=factor)

    ended = loop(least(shape[-2], shape[-1]), [a], [], step, collects=a)
    assert ended.collected is not None  # a factor in each step
    return ended.fields[0], ended.collected.map(collected_scalars)


def reflection(mine: Field, k: Tensor, rows: TensorOrArray) -> tuple[Field, Field, Field]:
    """The reflection that clears a column below row k: the vector (1 at k), its factor, and the new element at k."""
    top = row(mine, k)
    below = masked(op.Greater(rows, k), mine)
    rest = op.ReduceSum(below.squared_size(), [mine.rank - 2], keepdims=1)
    is_nothing = op.Equal(rest, ZERO)
    if top.im is not None:
        is_nothing = is_nothing & op.Equal(top.im, ZERO)
    length = op.Sqrt(rest + top.squared_size())
    beta = op.Where(top.re < ZERO, length, -length)
    beta = op.Where(is_nothing, ONE, beta)  # only for the divisions; it has no effect
    factor = where(is_nothing, number(0), (Field(beta) - top).map(lambda part: part / beta))
    divisor = where(is_nothing, number(1), top - Field(beta))
    vector = where(op.Equal(rows, k), number(1), below / divisor)
    new_top = where(is_nothing, top, Field(beta))
    return vector, factor, new_top


def applied(vectors: Field, factors: Field, start: Field, *, backwards: bool, adjoint: bool = False) -> Field:
    """Reflections applied to a matrix from the left, the first one first unless backwards."""
    count = size_of(factors.re, factors.rank - 1)
    rows = row_numbers(sizes(vectors)[-2])
    start = alike(start, vectors)

    def step(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (q,) = fields
        k = op.Sub(cast(count, DType.INT64), np.int64(1)) - i if backwards else i
        vector = where(op.Equal(rows, k), number(1), masked(rows > k, column(vectors, k)))
        factor = factors.map(
            lambda part: op.Unsqueeze(
                op.Gather(part, op.Reshape(k, [1]), axis=factors.rank - 1), [factors.rank]
            )
        )
        factor = factor.conj() if adjoint else factor
        return Step([q - vector * (factor * (vector.adjoint() @ q))])

    return loop(count, [start], [], step).fields[0]


def orthonormal(vectors: Field, factors: Field, columns: Size) -> Field:
    """The first columns of the product of reflections."""
    shape = sizes(vectors)
    return applied(vectors, factors, batch_identity(shape[:-2], shape[-2], columns, vectors), backwards=True)


@algorithm(name="qr")
def factored(a: Field, mode: Literal["reduced", "complete", "r"]) -> tuple[Field | None, Field]:
    """Q and R: `"reduced"`, `"complete"`, or `"r"` without Q."""
    rows, columns = sizes(a)[-2:]
    packed, factors = reflected(a)
    count = least(rows, columns)
    height = rows if mode == "complete" else count
    r = triangle(packed if mode == "complete" else rows_until(packed, count), True)
    return None if mode == "r" else orthonormal(packed, factors, height), r


def signed(q: Field, r_diagonal: Field) -> Field:
    """Columns turned so that the diagonal of R is positive: those of Q then point where the matrix's do."""
    phase = r_diagonal.phase()
    return q * phase.map(op.Unsqueeze, [phase.rank - 1])


def shifted(a: Field, value: Field, rows: TensorOrArray, columns: TensorOrArray) -> Field:
    """A matrix less a multiple of the identity."""
    return where(op.Equal(rows, columns), a - value, a)
