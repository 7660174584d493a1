"""Gaussian elimination with row exchanges: LU factors, what they solve, inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, joined, number, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.matrices import (
    batch_identity,
    chosen_rows,
    collected_scalars,
    column,
    column_numbers,
    columns_until,
    expanded,
    identity,
    masked,
    row,
    row_numbers,
    rows_until,
    sizes,
    triangle,
)
from onnxsmith.algorithms.linalg.triangular import solved_triangular
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import (
    Size,
    constant,
    converted,
    filled,
    int64s,
    least,
    rank_of,
    sizes_of,
    transposed,
)
from onnxsmith.types.dtypes import DType


class Factors(NamedTuple):
    """The result of elimination."""

    #: Both factors in one matrix.
    both: Field
    #: The row that each was exchanged with.
    pivots: Tensor
    #: The order of rows that the exchanges lead to, a column.
    order: Tensor
    #: Where the first zero pivot was, counted from 1; 0 for none.
    first_zero: Tensor


def eliminated(a: Field, steps: Size, pivot: bool = True) -> Factors:
    """Gaussian elimination.

    Step k exchanges row k with the row of the largest element below, and takes multiples of it from those below.
    """
    shape = sizes(a)
    batch, rows, columns = shape[:-2], row_numbers(shape[-2]), column_numbers(shape[-1])
    order = op.Expand(_tensor(rows), int64s([*batch, shape[-2], 1]))
    whole = int64s(shape)

    def step(k: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (a,), (order, info) = fields, tensors
        if pivot:
            below = column(a, k)
            weight = abs(below.re) if below.im is None else abs(below.re) + abs(below.im)
            weight = op.Where(rows >= k, weight, np.float64(-1))
            best = op.ArgMax(weight, axis=rank_of(weight) - 2, keepdims=1)
            source = op.Where(op.Equal(rows, k), best, op.Where(op.Equal(rows, best), k, rows))
            places = op.Expand(source, whole)
            a = a.map(lambda part: op.GatherElements(part, places, axis=rank_of(part) - 2))
            order = op.GatherElements(order, source, axis=rank_of(order) - 2)
        else:
            best = info * 0 + k
        mine = column(a, k)
        top = row(mine, k)
        is_zero = ~top.is_nonzero()
        factors = masked(rows > k, mine / where(is_zero, number(1), top))
        rest = masked(columns > k, row(a, k))
        is_factor = (rows > k) & op.Equal(columns, k)
        a = where(is_factor, factors, a - factors * rest)
        info = op.Where(is_zero & op.Equal(info, np.int64(0)), k + 1, info)
        return Step([a], [order, info], collected=best)

    start = filled([*batch, 1, 1], 0, DType.INT64)
    ended = loop(steps, [a], [order, start], step, collects=True)
    assert ended.collected is not None  # a row in each step
    order, info = ended.tensors
    first_zero = op.Squeeze(info, [len(batch), len(batch) + 1])
    pivots = collected_scalars(ended.collected.re)
    if not isinstance(steps, int):  # of no steps nobody knows what shape they would have had
        pivots = op.Reshape(pivots, int64s([*batch, steps]), allowzero=1)
    return Factors(ended.fields[0], pivots, order, first_zero)


def _tensor(value: TensorOrArray) -> Tensor:
    return constant(value) if isinstance(value, np.ndarray) else value


@algorithm(name="lu_factor")
def factored(a: Field, pivot: bool = True) -> Factors:
    """The factors of matrices of any shape."""
    shape = sizes(a)
    return eliminated(a, least(shape[-2], shape[-1]), pivot)


def exchange_matrix(order: Tensor, count: Size) -> Tensor:
    """P of A = P L U: its column k is where row k of the factors' product goes."""
    hits = op.Equal(order, column_numbers(count))  # row k has a one where the original row was
    return transposed(converted(hits, DType.DOUBLE))


def unpacked(factors: Field) -> tuple[Field, Field]:
    """The lower and the upper factor of both in one matrix."""
    shape = sizes(factors)
    count = least(shape[-2], shape[-1])
    ones = identity(shape[-2], count)
    below = triangle(columns_until(factors, count), False, -1)
    return below + ones, triangle(rows_until(factors, count), True)


def row_order(pivots: Tensor, count: Size) -> Tensor:
    """The order of rows, a column, that exchanges of each row with another one lead to."""
    pivots = converted(pivots, DType.INT64) - 1
    steps = sizes_of(pivots)
    rows = row_numbers(count)
    start = op.Expand(_tensor(rows), int64s([*steps[:-1], count, 1]))

    def step(k: Tensor, _: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (order,) = tensors
        other = op.Unsqueeze(
            op.Gather(pivots, op.Reshape(k, [1]), axis=rank_of(pivots) - 1), [rank_of(pivots)]
        )
        source = op.Where(op.Equal(rows, k), other, op.Where(op.Equal(rows, other), k, rows))
        return Step([], [op.GatherElements(order, source, axis=rank_of(order) - 2)])

    return loop(steps[-1], [], [start], step).tensors[0]


@algorithm(name="lu_solve")
def solved_with(factors: Field, pivots: Tensor, b: Field, *, adjoint: bool = False) -> Field:
    """X of A X = B, or of Aᴴ X = B, for the A whose factors are given; B has the shape of X."""
    count = sizes(factors)[-1]
    order = row_order(pivots, count)
    if adjoint:
        x = solved_triangular(factors.adjoint(), b, upper=False, unit=False)
        x = solved_triangular(factors.adjoint(), x, upper=True, unit=True)
        return chosen_rows(x, _inverse_order(order, count))
    x = chosen_rows(b, order)
    x = solved_triangular(factors, x, upper=False, unit=True)
    return solved_triangular(factors, x, upper=True, unit=False)


def _inverse_order(order: Tensor, count: Size) -> Tensor:
    hits = op.Equal(order, column_numbers(count))
    return op.ArgMax(transposed(converted(hits, DType.INT32)), axis=rank_of(order) - 1, keepdims=1)


@algorithm(name="solve", has_gradient=True)
def solved(a: Field, b: Field, shape: Sequence[Size]) -> tuple[Field, Tensor]:
    """X of A X = B in a shape that both broadcast to, and where the first zero pivot was."""
    count = shape[-2]
    a = expanded(a, [*shape[:-2], count, count])
    b = expanded(b, shape)
    whole = joined([a, b], a.rank - 1)
    done, _, _, info = eliminated(whole, count)
    x = solved_triangular(
        columns_until(done, count), columns_until(done, count + shape[-1], count), upper=True
    )
    return x, info


@algorithm(name="inverse", has_gradient=True)
def inverted(a: Field) -> tuple[Field, Tensor]:
    """The inverse of each matrix, and where the first zero pivot was."""
    shape = sizes(a)
    return solved(a, batch_identity(shape[:-2], shape[-2], shape[-1], a), shape)
