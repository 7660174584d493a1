# pyright: basic
"""QR factors by reflections: one for each column, which makes zeros below the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.field import Field, alike, loop, where
from onnxsmith.torch.library.linalg.matrices import (
    ONE,
    ZERO,
    batch_identity,
    collected_scalars,
    column,
    column_numbers,
    empty_results,
    expanded,
    identity,
    is_empty,
    masked,
    matrix,
    row,
    row_numbers,
    rows_until,
    sizes,
    triangle,
)
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast
from onnxsmith.torch.sizes import least
from onnxsmith.types.dtypes import DType


def reflected(call: Call, a: Field) -> tuple[Field, Field]:
    """R above the diagonal, the reflections' vectors below it, and their factors, as LAPACK's `geqrf` has them."""
    shape = sizes(call, a)
    rows, columns = row_numbers(shape[-2]), column_numbers(shape[-1])

    def step(k: Any, a: Field) -> Any:
        vector, factor, top = reflection(column(a, k), k, rows)
        changed = a - vector * (factor.conj() * (vector.adjoint() @ a))
        is_below = op.And(op.Greater(rows, k), op.Equal(columns, k))
        is_top = op.And(op.Equal(rows, k), op.Equal(columns, k))
        kept = op.Or(op.Less(columns, k), op.Less(rows, k))
        return [where(kept, a, where(is_below, vector, where(is_top, top, changed)))], [factor]

    (a,), (factors,) = loop(least(shape[-2], shape[-1]), [a], step, [True])
    return a, factors.map(collected_scalars)


def reflection(mine: Field, k: Any, rows: Any) -> tuple[Field, Field, Field]:
    """What makes a column zero below row k: the vector (1 at k), its factor, and what stands at k then."""
    top = row(mine, k)
    below = masked(op.Greater(rows, k), mine)
    rest = op.ReduceSum(below.squared_size(), [mine.rank - 2], keepdims=1)
    is_nothing = op.Equal(rest, ZERO)
    if top.is_complex:
        is_nothing = op.And(is_nothing, op.Equal(top.im, ZERO))
    length = op.Sqrt(op.Add(rest, top.squared_size()))
    beta = op.Where(op.Less(top.re, ZERO), length, op.Neg(length))
    beta = op.Where(is_nothing, ONE, beta)  # only for the divisions; it has no effect
    factor = where(is_nothing, Field(ZERO), (Field(beta) - top).map(lambda part: op.Div(part, beta)))
    divisor = where(is_nothing, Field(ONE), top - Field(beta))
    vector = where(op.Equal(rows, k), Field(ONE), below / divisor)
    new_top = where(is_nothing, top, Field(beta))
    return vector, factor, new_top


def applied(
    call: Call, vectors: Field, factors: Field, start: Field, *, backwards: bool, adjoint: bool = False
) -> Field:
    """Reflections applied to a matrix from the left, the first one first unless backwards."""
    count = call.size(factors.re, factors.rank - 1)
    rows = row_numbers(sizes(call, vectors)[-2])
    start = alike(start, vectors)

    def step(i: Any, q: Field) -> Any:
        k = op.Sub(op.Sub(cast(count, DType.INT64), np.int64(1)), i) if backwards else i
        vector = where(op.Equal(rows, k), Field(ONE), masked(op.Greater(rows, k), column(vectors, k)))
        factor = factors.map(
            lambda part: op.Unsqueeze(
                op.Gather(part, op.Reshape(k, [1]), axis=factors.rank - 1), [factors.rank]
            )
        )
        factor = factor.conj() if adjoint else factor
        return [q - vector * (factor * (vector.adjoint() @ q))], []

    return loop(count, [start], step)[0][0]


def orthonormal(call: Call, vectors: Field, factors: Field, columns: Any) -> Field:
    """The first columns of the product of reflections."""
    shape = sizes(call, vectors)
    return applied(
        call, vectors, factors, batch_identity(shape[:-2], shape[-2], columns, vectors), backwards=True
    )


@translates_complex("aten.geqrf.default")
@translates("aten.geqrf.default")
def geqrf(call: Call, a: Any) -> Any:
    if is_empty(a):
        return empty_results(call)
    packed, factors = reflected(call, matrix(a))
    return [packed.as_value(), factors.as_value()]


PRODUCTS = ("aten.linalg_householder_product.default", "aten.orgqr.default")


@translates_complex(*PRODUCTS)
@translates(*PRODUCTS)
def householder_product(call: Call, vectors: Any, factors: Any) -> Any:
    if is_empty(vectors):
        return empty_results(call)
    vectors = matrix(vectors)
    if is_empty(factors):
        shape = sizes(call, vectors)
        return batch_identity(shape[:-2], shape[-2], shape[-1], vectors).as_value()
    return orthonormal(call, vectors, matrix(factors), call.output_shape()[-1]).as_value()


@translates_complex("aten.ormqr.default")
@translates("aten.ormqr.default")
def ormqr(
    call: Call, vectors: Any, factors: Any, other: Any, left: bool = True, transpose: bool = False
) -> Any:
    if is_empty(vectors, factors, other):
        return empty_results(call) if is_empty(other) else other
    v, tau, c = matrix(vectors), matrix(factors), matrix(other)
    if not left:  # C Q is (Qᴴ Cᴴ)ᴴ
        c, transpose = c.adjoint(), not transpose
    made = applied(call, v, tau, c, backwards=not transpose, adjoint=transpose)
    return (made if left else made.adjoint()).as_value()


def factored(call: Call, a: Field, mode: str) -> tuple[Field | None, Field]:
    """Q and R: `"reduced"`, `"complete"`, or `"r"` without Q."""
    rows, columns = sizes(call, a)[-2:]
    packed, factors = reflected(call, a)
    count = least(rows, columns)
    height = rows if mode == "complete" else count
    r = triangle(packed if mode == "complete" else rows_until(packed, count), True)
    return None if mode == "r" else orthonormal(call, packed, factors, height), r


@translates_complex("aten.linalg_qr.default")
@translates("aten.linalg_qr.default")
def qr(call: Call, a: Any, mode: str = "reduced") -> Any:
    if is_empty(a):
        return _empty_qr(call)
    q, r = factored(call, matrix(a), mode)
    return [empty_results(call)[0] if q is None else q.as_value(), r.as_value()]


@translates_complex("aten.qr.default")
@translates("aten.qr.default")
def qr_old(call: Call, a: Any, some: bool = True) -> Any:
    return qr(call, a, "reduced" if some else "complete")


def _empty_qr(call: Call) -> Any:
    results = empty_results(call)
    shape = call.output_shape(0)
    if len(shape) >= 2 and 0 not in shape:
        ones = expanded(identity(shape[-2], shape[-1]), shape)
        results[0] = (Field(ones.re, results[0].imag) if call.is_complex else ones).as_value()
    return results


def signed(q: Field, r_diagonal: Field) -> Field:
    """Columns turned so that the diagonal of R is positive: those of Q then point where the matrix's do."""
    phase = r_diagonal.phase()
    return q * phase.map(lambda part: op.Unsqueeze(part, [phase.rank - 1]))


def shifted(a: Field, value: Field, rows: Any, columns: Any) -> Field:
    """A matrix less a multiple of the identity."""
    return where(op.Equal(rows, columns), a - value, a)
