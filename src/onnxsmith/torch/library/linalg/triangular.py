# pyright: basic
"""Systems of equations with a triangular matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.field import Field, alike, loop, where
from onnxsmith.torch.library.linalg.matrices import (
    ZERO,
    batch_identity,
    collected_columns,
    column,
    empty_results,
    expanded,
    is_empty,
    masked,
    matrix,
    row,
    row_numbers,
    sizes,
    triangle,
)
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast, filled
from onnxsmith.types.dtypes import DType


def solved_triangular(call: Call, a: Field, b: Field, upper: bool, unit: bool = False) -> Field:
    """X of A X = B, where B has the shape of X. The other triangle of A is not looked at."""
    count = sizes(call, a)[-1]
    rows = row_numbers(count)
    b = alike(b, a)

    def step(i: Any, x: Field) -> Any:
        k = op.Sub(op.Sub(cast(count, DType.INT64), np.int64(1)), i) if upper else i
        mine = column(a, k)
        value = row(x, k)
        if not unit:
            value = value / row(mine, k)
        rest = op.Less(rows, k) if upper else op.Greater(rows, k)
        return [where(op.Equal(rows, k), value, x - masked(rest, mine) * value)], []

    return loop(count, [b], step)[0][0]


@translates_complex("aten.linalg_solve_triangular.default")
@translates("aten.linalg_solve_triangular.default")
def solve_triangular(
    call: Call, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    if is_empty(a, b):
        return empty_results(call)
    shape = call.output_shape()
    a, b = matrix(a), expanded(matrix(b), shape)
    if left:
        return solved_triangular(call, a, b, upper, unitriangular).as_value()
    x = solved_triangular(call, a.transposed(), b.transposed(), not upper, unitriangular)
    return x.transposed().as_value()


@translates_complex("aten.triangular_solve.default")
@translates("aten.triangular_solve.default")
def triangular_solve(
    call: Call, b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    if is_empty(a, b):
        return empty_results(call)
    shape = call.output_shape()
    coefficients = matrix(a)
    if transpose:
        coefficients, upper = coefficients.transposed(), not upper
    x = solved_triangular(call, coefficients, expanded(matrix(b), shape), upper, unitriangular)
    copied = expanded(matrix(a), [*shape[:-2], shape[-2], shape[-2]])
    return [x.as_value(), copied.as_value()]


@translates_complex("aten.cholesky_solve.default")
@translates("aten.cholesky_solve.default")
def cholesky_solve(call: Call, b: Any, factor: Any, upper: bool = False) -> Any:
    if is_empty(b, factor):
        return empty_results(call)
    lower = matrix(factor).adjoint() if upper else matrix(factor)
    x = solved_triangular(call, lower, expanded(matrix(b), call.output_shape()), upper=False)
    return solved_triangular(call, lower.adjoint(), x, upper=True).as_value()


@translates_complex("aten.cholesky_inverse.default")
@translates("aten.cholesky_inverse.default")
def cholesky_inverse(call: Call, factor: Any, upper: bool = False) -> Any:
    if is_empty(factor):
        return empty_results(call)
    factor = triangle(matrix(factor), upper)
    lower = factor.adjoint() if upper else factor
    shape = sizes(call, lower)
    ones = batch_identity(shape[:-2], shape[-2], shape[-1], lower)
    x = solved_triangular(call, lower, ones, upper=False)
    return (x.adjoint() @ x).as_value()


CHOLESKY = ("aten.linalg_cholesky.default", "aten.linalg_cholesky_ex.default", "aten.cholesky.default")


@translates_complex(*CHOLESKY)
@translates(*CHOLESKY)
def cholesky(call: Call, a: Any, upper: bool = False, *, check_errors: bool = False) -> Any:
    """Column by column: what the columns before explain is taken off the rest. Only one triangle is read."""
    if is_empty(a):
        return empty_results(call)
    a = matrix(a)
    a = a.adjoint() if upper else a
    factor, info = _cholesky(call, a)
    factor = factor.adjoint() if upper else factor
    return [factor.as_value(), info] if isinstance(call.output, tuple | list) else factor.as_value()


def _cholesky(call: Call, a: Field) -> tuple[Field, Any]:
    shape = sizes(call, a)
    rows = row_numbers(shape[-1])

    def step(k: Any, a: Field, info: Any) -> Any:
        mine = column(a, k)
        top = row(mine, k).re
        is_bad = op.Not(op.Greater(top, ZERO))
        root = op.Sqrt(top)
        below = masked(op.Greater(rows, k), mine.map(lambda part: op.Div(part, root)))
        made = where(op.Equal(rows, k), Field(root), below)
        info = op.Where(op.And(is_bad, op.Equal(info, np.int64(0))), op.Add(k, np.int64(1)), info)
        return [a - below * below.adjoint(), info], [made]

    rank = len(shape)
    start = filled([*shape[:-2], 1, 1], 0, DType.INT64)
    (_, info), (columns,) = loop(shape[-1], [a, start], step, [True])
    return collected_columns(columns), op.Squeeze(info, [rank - 2, rank - 1])
