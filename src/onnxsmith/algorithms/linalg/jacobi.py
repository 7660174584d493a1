"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations.

Each step rotates n/2 pairs of columns at once: in step r, columns i and j with i + j = r modulo n. So n steps visit
every pair once, whatever n is, a step is a few products of matrices, and its graph is small.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, joined, number, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.linalg.householder import orthonormal, reflected, signed
from onnxsmith.algorithms.linalg.matrices import (
    ONE,
    ZERO,
    batch_identity,
    chosen_columns,
    column_numbers,
    columns_until,
    diagonal,
    masked,
    norm_of_columns,
    row_numbers,
    sizes,
    triangle,
)
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import Size, cast, int64s, least, rank_of
from onnxsmith.types.dtypes import DType

#: How often every pair is visited at most; convergence is quadratic, and the loop ends when it is reached.
_SWEEPS = 30
#: An off-diagonal element is nothing below this part of its diagonal ones.
_PRECISION = np.float64(4e-16)


def rotation(
    a: Field, step: Tensor, count: Size, rows: TensorOrArray, columns: TensorOrArray
) -> tuple[Field, Tensor]:
    """The rotations of one step as one unitary matrix, and the largest part of a diagonal that they remove."""
    partner = op.Mod(step - rows, cast(count, DType.INT64))  # (n, 1), for each row
    is_partner = op.Equal(columns, partner) & ~op.Equal(columns, rows)
    is_diagonal = op.Equal(rows, columns)
    axis = a.rank - 1
    across = masked(is_partner, a)  # one element in each row
    element = across.map(op.ReduceSum, [axis], keepdims=1)
    entries = op.Where(is_diagonal, a.re, ZERO)
    mine = op.ReduceSum(entries, [axis], keepdims=1)
    all_entries = op.ReduceSum(entries, [axis - 1], keepdims=1)
    other = op.ReduceSum(op.Where(is_partner, all_entries, ZERO), [axis], keepdims=1)
    size = element.size()
    is_zero = op.Equal(size, ZERO)
    tau = (other - mine) / (2 * op.Where(is_zero, ONE, size))
    # Both rows of a pair turn the same way round, also where tau is zero.
    is_first = op.Less(rows, partner)
    sign = op.Where(op.Equal(tau, ZERO), op.Where(is_first, ONE, -ONE), op.Sign(tau))
    tangent = sign / (abs(tau) + op.Where(abs(tau) > 1e150, abs(tau), _root(tau)))
    tangent = op.Where(is_zero, ZERO, tangent)
    cosine = ONE / _root(tangent)
    sine = tangent * cosine
    phase = element.phase()
    turned = phase.map(lambda part: part * sine)
    matrix = where(is_diagonal, Field(cosine), masked(is_partner, turned))
    scale = op.Sqrt(abs(mine) * abs(other))
    return matrix, _relative(size, scale)


def _root(x: Tensor) -> Tensor:
    return op.Sqrt(ONE + x * x)


def _relative(size: Tensor, scale: Tensor) -> Tensor:
    """The largest ratio, where a size is not zero."""
    floor = np.float64(1e-30)  # matrices come scaled to one, and columns of this length squared are rounding
    ratio = op.Where(op.Equal(size, ZERO), ZERO, size / op.Max(scale, floor))
    return op.ReduceMax(ratio, keepdims=0)


def symmetric(a: Field, upper: bool) -> Field:
    """A Hermitian matrix from one of its triangles."""
    half = triangle(a, upper, 1 if upper else -1)
    whole = half + half.adjoint()
    entries = op.Trilu(op.Trilu(a.re, np.int64(0), upper=1), np.int64(0), upper=0)
    return whole + Field(entries)


@algorithm(has_gradient=True)
def eigh(a: Field) -> tuple[Tensor, Field]:
    """Eigenvalues from the smallest and eigenvectors of Hermitian matrices."""
    shape = sizes(a)
    count = shape[-1]
    rows, columns = row_numbers(count), column_numbers(count)
    vectors = batch_identity(shape[:-2], count, count, a)

    # What is off the diagonal counts against the whole matrix here, not against the two on the diagonal.
    scale = op.Sqrt(op.ReduceSum(a.squared_size(), [a.rank - 2, a.rank - 1], keepdims=1))
    scale = op.Where(scale > ZERO, scale, ONE)
    a = a.map(lambda part: part / scale)

    def step(i: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        a, vectors = fields
        turn = rotation(a, i, count, rows, columns)[0]
        a = turn.adjoint() @ a @ turn
        rest = op.ReduceMax(where(op.Equal(rows, columns), number(0), a).squared_size(), keepdims=0)
        return Step([a, vectors @ turn], goes_on=rest > 1e-33)

    trips = op.Mul(cast(count, DType.INT64), np.int64(_SWEEPS))
    a, vectors = loop(trips, [a, vectors], [], step).fields
    values = diagonal(Field(a.re)).re * op.Squeeze(scale, [a.rank - 1])
    axis = rank_of(values) - 1
    values, order = several(op.TopK, values, int64s([count]), outputs=2, axis=axis, largest=0, sorted=1)
    return values, chosen_columns(vectors, order)


@algorithm(has_gradient=True)
def svd(a: Field, full: bool, with_vectors: bool = True) -> tuple[Field | None, Tensor, Field | None]:
    """U, the singular values from the largest, and V (not its adjoint)."""
    rows, columns = sizes(a)[-2:]
    is_wide = isinstance(rows, int) and isinstance(columns, int) and rows < columns
    if is_wide:
        v, values, u = svd(a.adjoint(), full, with_vectors)
        return u, values, v
    return _svd(a, full, with_vectors)


def _svd(a: Field, full: bool, with_vectors: bool) -> tuple[Field | None, Tensor, Field | None]:
    """Rotations that make the columns orthogonal; their lengths are the singular values."""
    shape = sizes(a)
    count = shape[-1]
    rows, columns = row_numbers(count), column_numbers(count)
    scale = op.ReduceMax(a.size(), [a.rank - 2, a.rank - 1], keepdims=1)
    scale = op.Where(scale > ZERO, scale, ONE)
    a = a.map(lambda part: part / scale)
    number_of_columns = cast(count, DType.INT64)
    last = op.Sub(number_of_columns, np.int64(1))

    def step(i: Tensor, fields: Sequence[Field], tensors: Sequence[Tensor]) -> Step:
        (a, v), (worst,) = fields, tensors
        turn, ratio = rotation(a.adjoint() @ a, i, count, rows, columns)
        is_last = op.Equal(op.Mod(i, number_of_columns), last)
        worst = op.Max(worst, ratio)
        going_on = ~is_last | (worst > _PRECISION)
        return Step([a @ turn, v @ turn], [op.Where(is_last, ZERO, worst)], goes_on=going_on)

    start = batch_identity(shape[:-2], count, count, a)
    trips = op.Mul(number_of_columns, np.int64(_SWEEPS))
    a, v = loop(trips, [a, start], [cast(0.0, DType.DOUBLE)], step).fields
    lengths = op.Squeeze(norm_of_columns(a), [a.rank - 2])
    axis = rank_of(lengths) - 1
    values, order = several(op.TopK, lengths, int64s([count]), outputs=2, axis=axis, largest=1, sorted=1)
    values = values * op.Squeeze(scale, [a.rank - 1])
    fewer = least(shape[-2], count)  # where it is not known which is, there may be more columns than rows
    is_tall = isinstance(fewer, int)
    values = values if is_tall else columns_until(Field(values), fewer).re
    if not with_vectors:
        return None, values, None
    # The columns, longest first, are U times the values. Reflections give U also where a value is zero.
    packed, factors = reflected(chosen_columns(a, order))
    u = signed(orthonormal(packed, factors, fewer), diagonal(packed))
    v = chosen_columns(v, order)
    if full:
        return _with_first_columns(orthonormal(packed, factors, shape[-2]), u, fewer), values, v
    return u, values, v if is_tall else columns_until(v, fewer)


def _with_first_columns(whole: Field, first: Field, count: Size) -> Field:
    return joined([first, columns_until(whole, np.iinfo(np.int64).max, count)], whole.rank - 1)


def singular_values(a: Field) -> Tensor:
    """Singular values from the largest."""
    return svd(a, False, False)[1]
