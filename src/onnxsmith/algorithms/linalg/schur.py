"""Eigenvalues of any square matrix: shifted QR steps to a triangular matrix of complex numbers.

Every matrix of a batch has its own shift and its own number of rows that are still to do. A step factors the shifted
leading block and turns the matrix by Q; when the last row of the block has nothing left of its diagonal, the block
is one smaller.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, alike, imaginary, number, where
from onnxsmith.algorithms.complex_numbers.functions import sqrt
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.householder import reflection
from onnxsmith.algorithms.linalg.matrices import (
    ZERO,
    batch_identity,
    column,
    column_numbers,
    diagonal,
    masked,
    norm_of_columns,
    row,
    row_numbers,
    sizes,
)
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import Size, cast, converted, filled, int64s
from onnxsmith.types.dtypes import DType

#: Steps for each eigenvalue at most; two or three are usual.
_STEPS = 40
#: An element is nothing below this part of the matrix's size.
_PRECISION = np.float64(2e-16)


@algorithm
def schur(a: Field) -> tuple[Field, Field]:
    """The triangular T and the unitary Z of A = Z T Zᴴ."""
    shape = sizes(a)
    batch, count = shape[:-2], shape[-1]
    rows, columns = row_numbers(count), column_numbers(count)
    a = alike(a, Field(a.re, a.re))
    scale = op.Sqrt(op.ReduceSum(a.squared_size(), [a.rank - 2, a.rank - 1], keepdims=1))
    limit = scale * _PRECISION
    last = op.Expand(op.Sub(cast(count, DType.INT64), np.int64(1)), int64s([*batch, 1, 1]))

    def step(_: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (t, z), (last, tries) = fields, tensors
        is_active = (rows <= last) & (columns <= last)
        shift = _shift(t, last, tries, rows, columns)
        block = where(op.Equal(rows, columns), t - shift, t)
        block = where(is_active, block, Field(converted(op.Equal(rows, columns), DType.DOUBLE)))
        q = _unitary(block, count, rows)
        t, z = q.adjoint() @ t @ q, z @ q
        left = op.Equal(rows, last) & (columns < last)
        rest = op.ReduceSum(masked(left, t).size(), [t.rank - 2, t.rank - 1], keepdims=1)
        is_done = rest <= limit
        t = where(left & is_done, number(0), t)
        last = last - converted(is_done, DType.INT64)
        tries = op.Where(is_done, 0, tries + 1)
        goes_on = op.ReduceMax(last, keepdims=0) > 0
        return Step([t, z], [last, tries], goes_on=goes_on)

    start = batch_identity(batch, count, count, a)
    tries = filled([*batch, 1, 1], 0, DType.INT64)
    trips = op.Mul(cast(count, DType.INT64), np.int64(_STEPS))
    t, z = loop(trips, [a, start], [last, tries], step).fields
    return t, z


def _entry(t: Field, condition: Tensor) -> Field:
    """The one element where a condition holds, as a matrix of one element."""
    return masked(condition, t).map(op.ReduceSum, np.array([t.rank - 2, t.rank - 1]), keepdims=1)


def _shift(t: Field, last: Tensor, tries: Tensor, rows: TensorOrArray, columns: TensorOrArray) -> Field:
    """The eigenvalue of the last 2 x 2 block that is nearer to its last element; now and then something else."""
    before = last - 1
    a = _entry(t, op.Equal(rows, before) & op.Equal(columns, before))
    b = _entry(t, op.Equal(rows, before) & op.Equal(columns, last))
    c = _entry(t, op.Equal(rows, last) & op.Equal(columns, before))
    d = _entry(t, op.Equal(rows, last) & op.Equal(columns, last))
    half = (a - d).map(lambda part: part * 0.5)
    root = sqrt(half * half + b * c)
    # d - b c / (half ± root), with the larger divisor
    is_same_side = half.re * root.re + imaginary(half) * imaginary(root) >= ZERO
    divisor = half + where(is_same_side, root, -root)
    is_nonzero = divisor.is_nonzero()
    product = b * c
    shift = d - where(is_nonzero, product / where(is_nonzero, divisor, number(1)), number(0))
    # A matrix that a step maps to itself, as a permutation does, needs a push.
    left = op.Equal(rows, last) & op.Less(columns, last)
    push = op.ReduceSum(masked(left, t).size(), np.array([t.rank - 2, t.rank - 1]), keepdims=1)
    is_stuck = op.Equal(op.Mod(tries + 1, np.int64(10)), 0)
    return where(is_stuck, d + Field(push * 0.75, push * 0.25), shift)


def _unitary(block: Field, count: Size, rows: TensorOrArray) -> Field:
    """Q of a QR factorisation."""
    shape = sizes(block)

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        r, q = fields
        vector, factor = reflection(column(r, k), k, rows)[:2]
        across = vector.adjoint()
        r = r - vector * (factor.conj() * (across @ r))
        return Step([r, q - (q @ vector) * (factor * across)])

    start = batch_identity(shape[:-2], count, count, block)
    return loop(count, [block, start], [], step).fields[1]


def _triangular_vectors(t: Field) -> Field:
    """Eigenvectors of triangular matrices, one row after the other from the last."""
    shape = sizes(t)
    count = shape[-1]
    rows, columns = row_numbers(count), column_numbers(count)
    values = diagonal(t).map(op.Unsqueeze, [t.rank - 2])
    size = op.ReduceMax(t.size(), [t.rank - 2, t.rank - 1], keepdims=1)
    smallest = op.Max(size * 2.3e-16, 1e-300)

    def step(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (x,) = fields
        k = op.Sub(cast(count, DType.INT64), np.int64(1)) - i
        mine = row(t, k)
        total = masked(columns > k, mine) @ x
        gap = _entry(t, op.Equal(rows, k) & op.Equal(columns, k)) - values
        is_small = gap.size() < smallest
        gap = where(is_small, Field(smallest), gap)
        solved = -(total / gap)
        new = where(op.Equal(columns, k), number(1), masked(columns > k, solved))
        return Step([where(op.Equal(rows, k), new, x)])

    start = filled(shape, 0.0, DType.DOUBLE)
    return loop(count, [Field(start, start)], [], step).fields[0]


def _normalised(x: Field) -> Field:
    """Columns of length one, whose largest element is real."""
    size = x.size()
    largest = op.ReduceMax(size, [x.rank - 2], keepdims=1)
    is_largest = op.Equal(size, largest)
    first = op.ArgMax(converted(is_largest, DType.INT32), axis=x.rank - 2, keepdims=1)
    top = x.map(op.GatherElements, first, axis=x.rank - 2)
    turned = x * top.phase().conj()
    length = norm_of_columns(turned)
    return turned.map(lambda part: part / length)


@algorithm
def eig(a: Field) -> tuple[Field, Field]:
    """Eigenvalues and eigenvectors, as columns."""
    t, z = schur(a)
    return diagonal(t), _normalised(z @ _triangular_vectors(t))
