"""LU factors, what they solve, and determinants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.linalg.determinants import determinant as determinant_of
from onnxsmith.algorithms.linalg.determinants import sign_and_log
from onnxsmith.algorithms.linalg.lu import (
    exchange_matrix,
    factored,
    inverted,
    row_order,
    solved,
    solved_with,
    unpacked,
)
from onnxsmith.algorithms.linalg.matrices import ZERO, expanded, sizes
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted, filled, int64s, product, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import parts_of
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import (
    empty_results,
    empty_tensors,
    empty_with_identities,
    is_empty,
    matrix,
)
from onnxsmith.torch.library.registry import translates_both
from onnxsmith.types.dtypes import DType


@translates_both("aten.linalg_lu_factor_ex.default", "aten._lu_with_info.default")
def lu_factor_ex(call: Call, a: Given, pivot: bool = True, check_errors: bool = False) -> list[Given]:
    if is_empty(a):
        return empty_tensors(call)
    factors, pivots, _, info = factored(matrix(a), pivot)
    return [factors.as_value(), pivots + 1, info]


@translates_both("aten.linalg_lu_factor.default")
def lu_factor(call: Call, a: Given, *, pivot: bool = True) -> Translated:
    return lu_factor_ex(call, a, pivot)[:2]


@translates_both("aten.linalg_lu.default")
def lu(call: Call, a: Given, *, pivot: bool = True) -> Translated:
    if is_empty(a):
        return empty_with_identities(call, [0, 1])
    factors, _, order, _ = factored(matrix(a), pivot)
    lower, upper = unpacked(factors)
    shape = sizes(factors)
    if not pivot:
        return [filled([0], 0.0, DType.DOUBLE), lower.as_value(), upper.as_value()]
    return [_with_zeros(exchange_matrix(order, shape[-2]), factors), lower.as_value(), upper.as_value()]


def _with_zeros(value: Tensor, like: Field) -> Given:
    return parts_of(value) if like.is_complex else value


@translates_both("aten.lu_unpack.default")
def lu_unpack(
    call: Call, factors: Given, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Translated:
    if is_empty(factors):
        return empty_with_identities(call, [0, 1])
    a = matrix(factors)
    shape = sizes(a)
    nothing = _with_zeros(filled([0], 0.0, DType.DOUBLE), a)
    p, lower, upper = nothing, nothing, nothing
    if unpack_pivots:
        p = _with_zeros(exchange_matrix(row_order(pivots, shape[-2]), shape[-2]), a)
    if unpack_data:
        lower, upper = (each.as_value() for each in unpacked(a))
    return [p, lower, upper]


@translates_both("aten.linalg_lu_solve.default")
def lu_solve(
    call: Call, factors: Given, pivots: Tensor, b: Given, *, left: bool = True, adjoint: bool = False
) -> Translated:
    if is_empty(factors, b):
        return empty_results(call)
    shape = call.output_shape()
    a, right = matrix(factors), matrix(b)
    if not left:  # X A = B is Aᴴ Xᴴ = Bᴴ
        right, adjoint = right.adjoint(), not adjoint
    count = sizes(a)[-1]
    width = shape[-1] if left else shape[-2]
    whole = [*shape[:-2], count, width]
    x = solved_with(a, pivots, expanded(right, whole), adjoint=adjoint)
    return (x if left else x.adjoint()).as_value()


@translates_both("aten.lu_solve.default")
def lu_solve_old(call: Call, b: Given, factors: Given, pivots: Tensor) -> Translated:
    return lu_solve(call, factors, pivots, b)


# -- systems of equations -----------------------------------------------------------------------------------


SOLVE = ("aten.linalg_solve.default", "aten.linalg_solve_ex.default", "aten._linalg_solve_ex.default")


@translates_both(*SOLVE)
def solve(call: Call, a: Given, b: Given, *, left: bool = True, check_errors: bool = False) -> Translated:
    results = call.outputs
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
    x, info = solved(whole_a, whole_b, shape)
    x = x if left else x.transposed()
    if is_vector:
        x = x.map(lambda part: op.Squeeze(part, [rank_of(part) - 1]))
    if len(results) == 1:
        return x.as_value()
    if len(results) == 2:
        return [x.as_value(), info]
    factors, pivots, _, info = factored(matrix(a))
    return [x.as_value(), factors.as_value(), pivots + 1, info]


def _is_vector(call: Call) -> bool:
    a, b = call.input_fake(0), call.input_fake(1)
    return b.dim() == 1 or (
        a.dim() - 1 == b.dim() and all(bool(x == y) for x, y in zip(b.shape, a.shape[:-1], strict=True))
    )


INVERSES = ("aten.linalg_inv.default", "aten.linalg_inv_ex.default", "aten.inverse.default")


@translates_both(*INVERSES)
def inverse(call: Call, a: Given, *, check_errors: bool = False) -> Translated:
    if is_empty(a):
        return empty_results(call)
    result, info = inverted(matrix(a))
    return [result.as_value(), info] if call.has_several else result.as_value()


@translates_both("aten.linalg_tensorinv.default")
def tensor_inverse(call: Call, a: Given, ind: int = 2) -> Translated:
    whole = matrix(a)
    rows = product(sizes(whole)[:ind])
    flat = whole.map(lambda part: op.Reshape(part, int64s([rows, rows])))
    made = inverted(flat)[0]
    return made.map(lambda part: op.Reshape(part, int64s(call.output_shape()))).as_value()


@translates_both("aten.linalg_tensorsolve.default")
def tensor_solve(call: Call, a: Given, b: Given, dims: Sequence[int] | None = None) -> Translated:
    left, right = matrix(a), matrix(b)
    rank = left.rank
    if dims is not None:
        moved = [each % rank for each in dims]
        order = [k for k in range(rank) if k not in moved] + moved
        left = left.map(op.Transpose, perm=order)
    rows = product(sizes(right))
    left = left.map(lambda part: op.Reshape(part, int64s([rows, rows])))
    right = right.map(lambda part: op.Reshape(part, int64s([rows, 1])))
    x = solved(left, right, [rows, 1])[0]
    return x.map(lambda part: op.Reshape(part, int64s(call.output_shape()))).as_value()


# -- determinants -------------------------------------------------------------------------------------------

DETERMINANTS = ("aten.linalg_det.default", "aten.det.default", "aten._linalg_det.default")


@translates_both(*DETERMINANTS)
def determinant(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call, 1.0)
    if call.has_several:
        factors, pivots, _, _ = factored(matrix(a))
        return [
            determinant_of(matrix(a)).as_value(),
            factors.as_value(),
            pivots + 1,
        ]
    if not isinstance(a, Complex) and a.dtype is not DType.DOUBLE:
        return op.Det(a)
    return determinant_of(matrix(a)).as_value()


SLOGDETS = ("aten.linalg_slogdet.default", "aten.slogdet.default", "aten._linalg_slogdet.default")


@translates_both(*SLOGDETS)
def slogdet(call: Call, a: Given) -> Translated:
    if is_empty(a):
        results = empty_tensors(call)
        results[0] = empty_tensors(call, 1.0)[0]
        return results
    factors, pivots, _, _ = factored(matrix(a))
    sign, size = sign_and_log(factors, pivots)
    extra = [factors.as_value(), pivots + 1] if len(call.outputs) == 4 else []
    return [sign.as_value(), size, *extra]


@translates_both("aten.logdet.default")
def logdet(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call)
    factors, pivots, _, _ = factored(matrix(a))
    sign, size = sign_and_log(factors, pivots)
    if sign.is_complex:
        return Field(size, converted(sign.angle(), DType.DOUBLE)).as_value()
    return op.Where(sign.re < ZERO, np.float64(np.nan), size)
