"""Systems of equations with a triangular matrix, and Cholesky's factors, which are for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.matrices import (
    ZERO,
    batch_identity,
    collected_columns,
    column,
    masked,
    row,
    row_numbers,
    sizes,
    triangle,
)
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import cast, filled
from onnxsmith.types.dtypes import DType


@algorithm(name="solve_triangular")
def solved_triangular(a: Field, b: Field, upper: bool, unit: bool = False) -> Field:
    """X of A X = B, where B has the shape of X. The other triangle of A is not looked at."""
    count = sizes(a)[-1]
    rows = row_numbers(count)

    def step(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (x,) = fields
        k = op.Sub(cast(count, DType.INT64), np.int64(1)) - i if upper else i
        mine = column(a, k)
        value = row(x, k)
        if not unit:
            value = value / row(mine, k)
        rest = rows < k if upper else rows > k
        return Step([where(op.Equal(rows, k), value, x - masked(rest, mine) * value)])

    return loop(count, [alike(b, a)], [], step).fields[0]


@algorithm(has_gradient=True)
def cholesky(a: Field) -> tuple[Field, Tensor]:
    """The lower factor of Hermitian matrices of which the lower triangle is read, and where the first fault is, or 0.

    Column by column: what the columns before explain is taken off the rest.
    """
    shape = sizes(a)
    rows = row_numbers(shape[-1])

    def step(k: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (a,), (info,) = fields, tensors
        mine = column(a, k)
        top = row(mine, k).re
        is_bad = ~(top > ZERO)
        root = op.Sqrt(top)
        below = masked(rows > k, mine.map(lambda part: part / root))
        made = where(op.Equal(rows, k), Field(root), below)
        info = op.Where(is_bad & op.Equal(info, np.int64(0)), k + 1, info)
        return Step([a - below * below.adjoint()], [info], collected=made)

    rank = len(shape)
    start = filled([*shape[:-2], 1, 1], 0, DType.INT64)
    ended = loop(shape[-1], [a], [start], step, collects=a)
    assert ended.collected is not None  # a column in each step
    return collected_columns(ended.collected), op.Squeeze(ended.tensors[0], [rank - 2, rank - 1])


@algorithm(name="cholesky_solve")
def cholesky_solved(lower: Field, b: Field) -> Field:
    """X of A X = B for the A whose lower factor is given; B has the shape of X."""
    x = solved_triangular(lower, b, upper=False)
    return solved_triangular(lower.adjoint(), x, upper=True)


@algorithm
def cholesky_inverse(factor: Field, upper: bool) -> Field:
    """The inverse of the matrices whose factor is given."""
    factor = triangle(factor, upper)
    lower = factor.adjoint() if upper else factor
    shape = sizes(lower)
    ones = batch_identity(shape[:-2], shape[-2], shape[-1], lower)
    x = solved_triangular(lower, ones, upper=False)
    return x.adjoint() @ x
