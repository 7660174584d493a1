# pyright: basic
"""Gaussian elimination with row exchanges: LU factors, what they solve, determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import angle_of
from onnxsmith.torch.library.complex_pair import Complex, parts_of
from onnxsmith.torch.library.field import Field, joined, loop, where
from onnxsmith.torch.library.linalg.matrices import (
    ONE,
    ZERO,
    batch_identity,
    chosen_rows,
    collected_scalars,
    column,
    column_numbers,
    columns_until,
    diagonal,
    empty_results,
    expanded,
    identity,
    is_empty,
    masked,
    matrix,
    numbers,
    row,
    row_numbers,
    rows_until,
    sizes,
    triangle,
)
from onnxsmith.torch.library.linalg.triangular import solved_triangular
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast, constant, filled, int64s, rank_of
from onnxsmith.torch.sizes import least
from onnxsmith.types.dtypes import DType


def eliminated(call: Call, a: Field, steps: Any, pivot: bool = True) -> tuple[Field, Any, Any, Any]:
    """Both factors in one matrix, the exchanged rows, the order of rows, and where the first zero pivot was.

    Step k exchanges row k with the row of the largest element below, and takes multiples of it from those below.
    """
    shape = sizes(call, a)
    batch, rows, columns = shape[:-2], row_numbers(shape[-2]), column_numbers(shape[-1])
    order = op.Expand(_tensor(rows), int64s([*batch, shape[-2], 1]))
    whole = int64s(shape)

    def step(k: Any, a: Field, order: Any, info: Any) -> Any:
        if pivot:
            below = column(a, k)
            weight = op.Abs(below.re) if below.im is None else op.Add(op.Abs(below.re), op.Abs(below.im))
            weight = op.Where(op.GreaterOrEqual(rows, k), weight, np.float64(-1))
            best = op.ArgMax(weight, axis=rank_of(weight) - 2, keepdims=1)
            source = op.Where(op.Equal(rows, k), best, op.Where(op.Equal(rows, best), k, rows))
            places = op.Expand(source, whole)
            a = a.map(lambda part: op.GatherElements(part, places, axis=rank_of(part) - 2))
            order = op.GatherElements(order, source, axis=rank_of(order) - 2)
        else:
            best = op.Add(op.Mul(info, np.int64(0)), k)
        mine = column(a, k)
        top = row(mine, k)
        is_zero = op.Not(top.is_nonzero())
        factors = masked(op.Greater(rows, k), mine / where(is_zero, Field(ONE), top))
        rest = masked(op.Greater(columns, k), row(a, k))
        is_factor = op.And(op.Greater(rows, k), op.Equal(columns, k))
        a = where(is_factor, factors, a - factors * rest)
        info = op.Where(op.And(is_zero, op.Equal(info, np.int64(0))), op.Add(k, np.int64(1)), info)
        return [a, order, info], [best]

    start = filled([*batch, 1, 1], 0, DType.INT64)
    (a, order, info), (best,) = loop(steps, [a, order, start], step, [False])
    return a, collected_scalars(best), order, op.Squeeze(info, [len(batch), len(batch) + 1])


def _tensor(value: Any) -> Any:
    return constant(value) if isinstance(value, np.ndarray) else value


def _factored(call: Call, a: Any, pivot: bool = True) -> tuple[Field, Any, Any, Any]:
    a = matrix(a)
    shape = sizes(call, a)
    return eliminated(call, a, least(shape[-2], shape[-1]), pivot)


@translates_complex("aten.linalg_lu_factor_ex.default", "aten._lu_with_info.default")
@translates("aten.linalg_lu_factor_ex.default", "aten._lu_with_info.default")
def lu_factor_ex(call: Call, a: Any, pivot: bool = True, check_errors: bool = False) -> Any:
    if is_empty(a):
        return empty_results(call)
    factors, pivots, _, info = _factored(call, a, pivot)
    return [factors.as_value(), op.Add(pivots, np.int64(1)), info]


@translates_complex("aten.linalg_lu_factor.default")
@translates("aten.linalg_lu_factor.default")
def lu_factor(call: Call, a: Any, *, pivot: bool = True) -> Any:
    return empty_results(call) if is_empty(a) else lu_factor_ex(call, a, pivot)[:2]


@translates_complex("aten.linalg_lu.default")
@translates("aten.linalg_lu.default")
def lu(call: Call, a: Any, *, pivot: bool = True) -> Any:
    if is_empty(a):
        return _empty_lu(call)
    factors, _, order, _ = _factored(call, a, pivot)
    lower, upper = _unpacked(call, factors)
    shape = sizes(call, factors)
    if not pivot:
        return [filled([0], 0.0, DType.DOUBLE), lower.as_value(), upper.as_value()]
    return [_with_zeros(_exchange_matrix(order, shape[-2]), factors), lower.as_value(), upper.as_value()]


def _empty_lu(call: Call) -> Any:
    results = empty_results(call)
    for k in (0, 1):
        shape = call.output_shape(k)
        if len(shape) >= 2 and 0 not in shape:
            ones = expanded(identity(shape[-2], shape[-1]), shape).re
            results[k] = Complex(ones, results[k].imag) if isinstance(results[k], Complex) else ones
    return results


def _exchange_matrix(order: Any, count: Any) -> Any:
    """P of A = P L U: its column k is where row k of the factors' product goes."""
    hits = op.Equal(order, column_numbers(count))  # row k has a one where the original row was
    rank = rank_of(order)
    return op.Transpose(cast(hits, DType.DOUBLE), perm=[*range(rank - 2), rank - 1, rank - 2])


def _with_zeros(value: Any, like: Field) -> Any:
    return parts_of(value) if like.is_complex else value


def _unpacked(call: Call, factors: Field) -> tuple[Field, Field]:
    shape = sizes(call, factors)
    count = least(shape[-2], shape[-1])
    ones = identity(shape[-2], count)
    below = triangle(columns_until(factors, count), False, -1)
    return below + ones, triangle(rows_until(factors, count), True)


@translates_complex("aten.lu_unpack.default")
@translates("aten.lu_unpack.default")
def lu_unpack(
    call: Call, factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    if is_empty(factors):
        return _empty_lu(call)
    a = matrix(factors)
    shape = sizes(call, a)
    nothing = filled([0], 0.0, DType.DOUBLE)
    p, lower, upper = nothing, nothing, nothing
    if unpack_pivots:
        p = _exchange_matrix(row_order(call, pivots, shape[-2]), shape[-2])
    if unpack_data:
        lower, upper = (each.as_value() for each in _unpacked(call, a))
    return [_with_zeros(each, a) if not isinstance(each, Complex) else each for each in (p, lower, upper)]


def row_order(call: Call, pivots: Any, count: Any) -> Any:
    """The order of rows, a column, that exchanges of each row with another one lead to."""
    pivots = op.Sub(cast(pivots, DType.INT64), np.int64(1))
    steps = call.shape_of(pivots)
    rows = row_numbers(count)
    start = op.Expand(_tensor(rows), int64s([*steps[:-1], count, 1]))

    def step(k: Any, order: Any) -> Any:
        other = op.Unsqueeze(
            op.Gather(pivots, op.Reshape(k, [1]), axis=rank_of(pivots) - 1), [rank_of(pivots)]
        )
        source = op.Where(op.Equal(rows, k), other, op.Where(op.Equal(rows, other), k, rows))
        return [op.GatherElements(order, source, axis=rank_of(order) - 2)], []

    return loop(steps[-1], [start], step)[0][0]


@translates_complex("aten.linalg_lu_solve.default")
@translates("aten.linalg_lu_solve.default")
def lu_solve(
    call: Call, factors: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False
) -> Any:
    if is_empty(factors, b):
        return empty_results(call)
    shape = call.output_shape()
    a, b = matrix(factors), matrix(b)
    if not left:  # X A = B is Aᴴ Xᴴ = Bᴴ
        b, adjoint = b.adjoint(), not adjoint
    count = sizes(call, a)[-1]
    width = shape[-1] if left else shape[-2]
    whole = [*shape[:-2], count, width]
    b = expanded(b, whole)
    order = row_order(call, pivots, count)
    if adjoint:
        x = solved_triangular(call, a.adjoint(), b, upper=False, unit=False)
        x = solved_triangular(call, a.adjoint(), x, upper=True, unit=True)
        x = chosen_rows(call, x, _inverse_order(order, count))
    else:
        x = chosen_rows(call, b, order)
        x = solved_triangular(call, a, x, upper=False, unit=True)
        x = solved_triangular(call, a, x, upper=True, unit=False)
    return (x if left else x.adjoint()).as_value()


def _inverse_order(order: Any, count: Any) -> Any:
    hits = op.Equal(order, column_numbers(count))
    rank = rank_of(order)
    turned = op.Transpose(cast(hits, DType.INT32), perm=[*range(rank - 2), rank - 1, rank - 2])
    return op.ArgMax(turned, axis=rank - 1, keepdims=1)


@translates_complex("aten.lu_solve.default")
@translates("aten.lu_solve.default")
def lu_solve_old(call: Call, b: Any, factors: Any, pivots: Any) -> Any:
    return lu_solve(call, factors, pivots, b)


# -- systems of equations -----------------------------------------------------------------------------------


def solved(call: Call, a: Field, b: Field, shape: Any) -> tuple[Field, Any]:
    """X of A X = B in a shape that both broadcast to, and where the first zero pivot was."""
    count = shape[-2]
    a = expanded(a, [*shape[:-2], count, count])
    b = expanded(b, shape)
    whole = joined([a, b], a.rank - 1)
    done, _, _, info = eliminated(call, whole, count)
    x = solved_triangular(
        call, columns_until(done, count), columns_until(done, count + shape[-1], count), upper=True
    )
    return x, info


SOLVE = ("aten.linalg_solve.default", "aten.linalg_solve_ex.default", "aten._linalg_solve_ex.default")


@translates_complex(*SOLVE)
@translates(*SOLVE)
def solve(call: Call, a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    results = call.output if isinstance(call.output, tuple | list) else [call.output]
    if is_empty(a, b):
        return empty_results(call)
    shape = call.output_shape()
    whole_a, whole_b = matrix(a), matrix(b)
    is_vector = _is_vector(call)
    if is_vector:
        whole_b = whole_b.map(lambda part: op.Unsqueeze(part, [rank_of(part)]))
        shape = [*shape, 1]
    if not left:  # X A = B is Aᵀ Xᵀ = Bᵀ
        whole_a, whole_b = whole_a.transposed(), whole_b.transposed()
        shape = [*shape[:-2], shape[-1], shape[-2]]
    x, info = solved(call, whole_a, whole_b, shape)
    x = x if left else x.transposed()
    if is_vector:
        x = x.map(lambda part: op.Squeeze(part, [rank_of(part) - 1]))
    if len(results) == 1:
        return x.as_value()
    if len(results) == 2:
        return [x.as_value(), info]
    factors, pivots, _, info = _factored(call, a)
    return [x.as_value(), factors.as_value(), op.Add(pivots, np.int64(1)), info]


def _is_vector(call: Call) -> bool:
    a, b = call.inputs[:2]
    return b.dim() == 1 or (
        a.dim() - 1 == b.dim() and all(bool(x == y) for x, y in zip(b.shape, a.shape[:-1], strict=True))
    )


INVERSES = ("aten.linalg_inv.default", "aten.linalg_inv_ex.default", "aten.inverse.default")


@translates_complex(*INVERSES)
@translates(*INVERSES)
def inverse(call: Call, a: Any, *, check_errors: bool = False) -> Any:
    if is_empty(a):
        return empty_results(call)
    result, info = inverted(call, matrix(a))
    return [result.as_value(), info] if isinstance(call.output, tuple | list) else result.as_value()


def inverted(call: Call, a: Field) -> tuple[Field, Any]:
    """The inverse of each matrix, and where the first zero pivot was."""
    shape = sizes(call, a)
    return solved(call, a, batch_identity(shape[:-2], shape[-2], shape[-1], a), shape)


@translates_complex("aten.linalg_tensorinv.default")
@translates("aten.linalg_tensorinv.default")
def tensor_inverse(call: Call, a: Any, ind: int = 2) -> Any:
    a = matrix(a)
    shape = sizes(call, a)
    rows = _product(shape[:ind])
    flat = a.map(lambda part: op.Reshape(part, int64s([rows, rows])))
    made = inverted(call, flat)[0]
    return made.map(lambda part: op.Reshape(part, int64s(call.output_shape()))).as_value()


@translates_complex("aten.linalg_tensorsolve.default")
@translates("aten.linalg_tensorsolve.default")
def tensor_solve(call: Call, a: Any, b: Any, dims: Any = None) -> Any:
    a, b = matrix(a), matrix(b)
    rank = a.rank
    if dims is not None:
        moved = [each % rank for each in dims]
        order = [k for k in range(rank) if k not in moved] + moved
        a = a.map(lambda part: op.Transpose(part, perm=order))
    rows = _product(sizes(call, b))
    a = a.map(lambda part: op.Reshape(part, int64s([rows, rows])))
    b = b.map(lambda part: op.Reshape(part, int64s([rows, 1])))
    x = solved(call, a, b, [rows, 1])[0]
    return x.map(lambda part: op.Reshape(part, int64s(call.output_shape()))).as_value()


def _product(values: Any) -> Any:
    result: Any = 1
    for each in values:
        result = result * each
    return result


# -- determinants -------------------------------------------------------------------------------------------

DETERMINANTS = ("aten.linalg_det.default", "aten.det.default", "aten._linalg_det.default")


@translates_complex(*DETERMINANTS)
@translates(*DETERMINANTS)
def determinant(call: Call, a: Any) -> Any:
    if is_empty(a):
        return empty_results(call, 1.0)
    if isinstance(call.output, tuple | list):
        factors, pivots, _, _ = _factored(call, a)
        return [
            _determinant(call, factors, pivots).as_value(),
            factors.as_value(),
            op.Add(pivots, np.int64(1)),
        ]
    if not isinstance(a, Complex) and a.dtype is not DType.DOUBLE:
        return op.Det(a)
    factors, pivots, _, _ = _factored(call, a)
    return _determinant(call, factors, pivots).as_value()


def _sign(call: Call, pivots: Any) -> Any:
    """-1 for each pair of rows that was exchanged, multiplied."""
    count = call.size(pivots, rank_of(pivots) - 1)
    moved = op.Not(op.Equal(pivots, numbers(count)))
    odd = op.Mod(op.ReduceSum(cast(moved, DType.INT64), [rank_of(pivots) - 1], keepdims=0), np.int64(2))
    return op.Sub(ONE, op.Mul(np.float64(2), cast(odd, DType.DOUBLE)))


def _determinant(call: Call, factors: Field, pivots: Any) -> Field:
    return product_along(call, diagonal(call, factors)) * Field(_sign(call, pivots))


def product_along(call: Call, vectors: Field) -> Field:
    """The product of the last dimension."""
    axis = vectors.rank - 1
    if not vectors.is_complex:
        return Field(op.ReduceProd(vectors.re, [axis], keepdims=0))
    shape = sizes(call, vectors)[:-1]
    start = Field(filled(shape, 1.0, vectors.dtype), filled(shape, 0.0, vectors.dtype))

    def step(k: Any, total: Field) -> Any:
        return [total * vectors.map(lambda part: op.Gather(part, k, axis=axis))], []

    return loop(call.size(vectors.re, axis), [start], step)[0][0]


SLOGDETS = ("aten.linalg_slogdet.default", "aten.slogdet.default", "aten._linalg_slogdet.default")


@translates_complex(*SLOGDETS)
@translates(*SLOGDETS)
def slogdet(call: Call, a: Any) -> Any:
    if is_empty(a):
        results = empty_results(call)
        results[0] = empty_results(call, 1.0)[0]
        return results
    factors, pivots, _, _ = _factored(call, a)
    sign, size = _sign_and_log(call, factors, pivots)
    extra = [factors.as_value(), op.Add(pivots, np.int64(1))] if len(call.output) == 4 else []
    return [sign.as_value(), size, *extra]


def _sign_and_log(call: Call, factors: Field, pivots: Any) -> tuple[Field, Any]:
    entries = diagonal(call, factors)
    size = entries.size()
    total = op.ReduceSum(op.Log(size), [rank_of(size) - 1], keepdims=0)
    sign = product_along(call, entries.phase()) * Field(_sign(call, pivots))
    is_singular = op.Equal(total, np.float64(-np.inf))
    return where(is_singular, Field(ZERO), sign), total


@translates_complex("aten.logdet.default")
@translates("aten.logdet.default")
def logdet(call: Call, a: Any) -> Any:
    if is_empty(a):
        return empty_results(call)
    factors, pivots, _, _ = _factored(call, a)
    sign, size = _sign_and_log(call, factors, pivots)
    if sign.is_complex:
        return Field(size, cast(angle_of(sign), DType.DOUBLE)).as_value()
    return op.Where(op.Less(sign.re, ZERO), np.float64(np.nan), size)
