"""LDL factors of symmetric matrices that need not be positive, with Bunch's and Kaufman's exchanges.

D has blocks of one or two rows. A block of two is done in the step of its first column, and the next step does nothing.
Every matrix of a batch chooses for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, number, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.jacobi import symmetric
from onnxsmith.algorithms.linalg.matrices import (
    ONE,
    ZERO,
    collected_scalars,
    column,
    column_numbers,
    masked,
    row,
    row_numbers,
    sizes,
    triangle,
)
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import cast, converted, filled, int64s, rank_of, transposed
from onnxsmith.types.dtypes import DType

#: The growth that an exchange may cost, the same for blocks of one and of two.
_ALPHA = np.float64((1 + math.sqrt(17)) / 8)
_NO, _YES = np.int64(0), np.int64(1)


def _weight(z: Field) -> Tensor:
    return abs(z.re) if z.im is None else abs(z.re) + abs(z.im)


def _turned(z: Field, hermitian: bool) -> Field:
    return z.adjoint() if hermitian else z.transposed()


def _exchanged(
    z: Field, a: Tensor, b: Tensor, rows: TensorOrArray, shape: TensorOrArray, axes: tuple[int, ...]
) -> Field:
    """Rows (and columns) a and b in each other's places."""
    source = op.Where(op.Equal(rows, a), b, op.Where(op.Equal(rows, b), a, rows))
    for axis in axes:
        places = op.Expand(source if axis == -2 else transposed(source), shape)
        z = Field(*[op.GatherElements(part, places, axis=rank_of(part) + axis) for part in z.parts()])
    return z


def _most(weight: Tensor) -> Tensor:
    return op.ReduceMax(weight, [rank_of(weight) - 2], keepdims=1)


def _pivot(a: Field, k: Tensor, rows: TensorOrArray, columns: TensorOrArray) -> tuple[Tensor, Tensor, Tensor]:
    """The row to exchange with, whether the block is of two rows, and whether the column is zero."""
    mine = _weight(column(a, k))
    own = op.Gather(mine, op.Reshape(k, [1]), axis=rank_of(mine) - 2)
    below = op.Where(op.Greater(rows, k), mine, np.float64(-1))
    best = op.ArgMax(below, axis=rank_of(mine) - 2, keepdims=1)
    largest = op.Max(_most(below), ZERO)
    other = op.ReduceSum(op.Where(op.Equal(columns, best), _weight(a), ZERO), [rank_of(mine) - 1], keepdims=1)
    beside = _most(op.Where(op.GreaterOrEqual(rows, k) & ~op.Equal(rows, best), other, ZERO))
    there = op.ReduceSum(op.Where(op.Equal(rows, best), other, ZERO), [rank_of(mine) - 2], keepdims=1)
    is_zero = op.Equal(op.Max(own, largest), ZERO)
    is_good = own >= op.Mul(_ALPHA, largest)
    ratio = largest / op.Where(op.Equal(beside, ZERO), ONE, beside)
    is_fair = own >= op.Mul(_ALPHA, largest) * ratio
    is_kept = is_zero | (is_good | is_fair)
    is_single = is_kept | (there >= op.Mul(_ALPHA, beside))
    return op.Where(is_kept, k, best), ~is_single, is_zero


def _block(a: Field, k: Tensor, following: Tensor, hermitian: bool) -> tuple[Field, Field, Field, Field]:
    """The elements of D at k: of one row and, to be used where the block is of two, of both."""
    first, second = column(a, k), column(a, following)
    d11, d21, d22 = row(first, k), row(first, following), row(second, following)
    d12 = d21.conj() if hermitian else d21
    return d11, d12, d21, d22


def _step(
    k: Tensor,
    a: Field,
    last: Tensor,
    rows: TensorOrArray,
    columns: TensorOrArray,
    shape: TensorOrArray,
    hermitian: bool,
) -> tuple[Field, Tensor, Tensor, Tensor]:
    """The matrix after column k, LAPACK's pivot, whether the block is of two rows, and whether the column is zero."""
    best, is_double, is_zero = _pivot(a, k, rows, columns)
    following = op.Min(k + _YES, last)
    place = op.Where(is_double, following, k)
    rest = op.GreaterOrEqual(rows, k) & op.GreaterOrEqual(columns, k)
    a = where(rest, _exchanged(a, place, best, rows, shape, (-2, -1)), a)
    d11, d12, d21, d22 = _block(a, k, following, hermitian)
    w1, w2 = column(a, k), column(a, following)
    # one row
    divisor = where(is_zero, number(1), d11)
    single = masked(op.Greater(rows, k), w1 / divisor)
    after_one = a - single * d11 * _turned(single, hermitian)
    one = where(op.Equal(columns, k) & op.Greater(rows, k), single, after_one)
    # two rows
    determinant = d11 * d22 - d12 * d21
    determinant = where(is_double, determinant, number(1))
    beyond = op.Greater(rows, following)
    w1, w2 = masked(beyond, w1), masked(beyond, w2)
    l1, l2 = (w1 * d22 - w2 * d21) / determinant, (w2 * d11 - w1 * d12) / determinant
    two = a - l1 * _turned(w1, hermitian) - l2 * _turned(w2, hermitian)
    two = where(op.Equal(columns, k) & beyond, l1, two)
    two = where(op.Equal(columns, following) & beyond, l2, two)
    inside = op.LessOrEqual(rows, following)
    two = where(inside, a, two)
    kept = op.LessOrEqual(rows, k) | op.Less(columns, k)
    made = where(op.Less(columns, k), a, where(is_double, two, where(kept, a, one)))
    pivot = op.Where(is_double, -(best + _YES), best + _YES)
    return made, pivot, is_double, is_zero


@algorithm(name="ldl_factor")
def factored(a: Field, hermitian: bool) -> tuple[Field, Tensor, Tensor]:
    """L below the diagonal and D on and beside it, LAPACK's pivots, and where D has its first zero."""
    shape = sizes(a)
    rows, columns, whole = row_numbers(shape[-1]), column_numbers(shape[-1]), int64s(shape)
    last = op.Sub(cast(shape[-1], DType.INT64), _YES)
    lower = triangle(a, False)
    a = symmetric(a, False) if hermitian or not a.is_complex else lower + triangle(a, False, -1).transposed()

    def step(k: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (a,), (skip, held, info) = fields, tensors
        made, pivot, is_double, is_zero = _step(k, a, last, rows, columns, whole, hermitian)
        is_skipped = op.Equal(skip, _YES)
        pivot = op.Where(is_skipped, held, pivot)
        is_first = is_zero & ~is_skipped & op.Equal(info, _NO)
        info = op.Where(is_first, k + _YES, info)
        skip = converted(is_double & ~is_skipped, DType.INT64)
        return Step([where(is_skipped, a, made)], [skip, pivot, info], collected=pivot)

    start = filled([*shape[:-2], 1, 1], 0, DType.INT64)
    ended = loop(shape[-1], [a], [start, start, start], step, collects=True)
    assert ended.collected is not None  # a pivot in each step
    rank = len(shape)
    info = op.Squeeze(ended.tensors[2], [rank - 2, rank - 1])
    return triangle(ended.fields[0], False), collected_scalars(ended.collected.re), info


@algorithm(name="ldl_solve")
def solved(a: Field, pivots: Tensor, b: Field, *, hermitian: bool) -> Field:
    """X of A X = B for the A whose factors and pivots are given; B has the shape of X."""
    x = alike(b, a)
    shape = sizes(b)
    count = shape[-2]
    rows, whole = row_numbers(count), int64s(shape)
    last = op.Sub(cast(count, DType.INT64), _YES)
    pivots = op.Unsqueeze(converted(pivots, DType.INT64), [rank_of(pivots), rank_of(pivots) + 1])

    def at(k: Tensor) -> Tensor:
        return op.Squeeze(
            op.Gather(pivots, op.Reshape(k, [1]), axis=rank_of(pivots) - 3), [rank_of(pivots) - 3]
        )

    def forwards(k: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (x,), (skip,) = fields, tensors
        pivot = at(k)
        is_skipped, is_double = op.Equal(skip, _YES), pivot < _NO
        following = op.Min(k + _YES, last)
        swapped = _exchanged(x, op.Where(is_double, following, k), abs(pivot) - _YES, rows, whole, (-2,))
        d11, d12, d21, d22 = _block(a, k, following, hermitian)
        x1, x2 = row(swapped, k), row(swapped, following)
        one = swapped - masked(rows > k, column(a, k)) * x1
        one = where(op.Equal(rows, k), x1 / d11, one)
        beyond = rows > following
        two = swapped - masked(beyond, column(a, k)) * x1 - masked(beyond, column(a, following)) * x2
        determinant = where(is_double, d11 * d22 - d12 * d21, number(1))
        two = where(op.Equal(rows, k), (d22 * x1 - d12 * x2) / determinant, two)
        two = where(op.Equal(rows, following), (d11 * x2 - d21 * x1) / determinant, two)
        made = where(is_skipped, x, where(is_double, two, one))
        return Step([made], [converted(is_double & ~is_skipped, DType.INT64)])

    def backwards(i: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (x,), (skip,) = fields, tensors
        k = last - i
        pivot = at(k)
        is_skipped, is_double = op.Equal(skip, _YES), pivot < _NO
        before = op.Max(k - _YES, _NO)
        beyond = rows > k
        mine = _turned(masked(beyond, column(a, k)), hermitian) @ x
        other = _turned(masked(beyond, column(a, before)), hermitian) @ x
        made = where(op.Equal(rows, k), x - mine, x)
        made = where(is_double & op.Equal(rows, before), x - other, made)
        made = _exchanged(made, k, abs(pivot) - _YES, rows, whole, (-2,))
        skip = converted(is_double & ~is_skipped, DType.INT64)
        return Step([where(is_skipped, x, made)], [skip])

    start = filled([*shape[:-2], 1, 1], 0, DType.INT64)
    x = loop(count, [x], [start], forwards).fields[0]
    return loop(count, [x], [start], backwards).fields[0]
