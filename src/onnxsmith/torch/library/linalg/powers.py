# pyright: basic
"""Powers and the exponential of matrices, and small products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.field import Field, loop, where
from onnxsmith.torch.library.linalg.lu import inverted
from onnxsmith.torch.library.linalg.matrices import (
    batch_identity,
    empty_results,
    is_empty,
    matrix,
    sizes,
)
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import axis_of, cast, expand, filled, rank_of
from onnxsmith.types.dtypes import DType

#: Terms of the series, enough in double precision for matrices of norm one.
_TERMS = 20


@translates_complex("aten.matrix_exp.default", "aten.linalg_matrix_exp.default")
@translates("aten.matrix_exp.default", "aten.linalg_matrix_exp.default")
def matrix_exp(call: Call, a: Any) -> Any:
    """The series of a matrix divided by a power of two that makes it small, squared as often."""
    if is_empty(a):
        return empty_results(call)
    a = matrix(a)
    shape = sizes(call, a)
    sums = op.ReduceSum(a.size(), [a.rank - 2], keepdims=1)
    norm = op.ReduceMax(sums, [a.rank - 1], keepdims=1)
    halvings = op.Ceil(op.Div(op.Log(op.Max(norm, np.float64(1))), np.log(np.float64(2))))
    halvings = op.Min(halvings, np.float64(1000))
    small = a.map(lambda part: op.Div(part, op.Pow(np.float64(2), halvings)))
    ones = batch_identity(shape[:-2], shape[-2], shape[-1], a)

    def term(i: Any, total: Field) -> Any:
        divisor = op.Sub(np.float64(_TERMS), cast(i, DType.DOUBLE))
        return [ones + (small @ total).map(lambda part: op.Div(part, divisor))], []

    series = loop(_TERMS, [ones], term)[0][0]

    def squared(i: Any, made: Field) -> Any:
        return [where(op.Less(cast(i, DType.DOUBLE), halvings), made @ made, made)], []

    times = cast(op.ReduceMax(halvings, keepdims=0), DType.INT64)
    return loop(times, [series], squared)[0][0].as_value()


@translates_complex("aten.matrix_power.default", "aten.linalg_matrix_power.default")
@translates("aten.matrix_power.default", "aten.linalg_matrix_power.default")
def matrix_power(call: Call, a: Any, n: int) -> Any:
    z = operand(a, call.dtype)
    shape = sizes(call, z)
    if n == 0:
        return batch_identity(shape[:-2], shape[-2], shape[-1], z).as_value()
    if n < 0:
        if is_empty(z):
            return z.as_value()
        z = inverted(call, z.cast(DType.DOUBLE))[0]
    made: Field | None = None
    exponent = abs(n)
    while exponent:
        if exponent & 1:
            made = z if made is None else made @ z
        exponent >>= 1
        z = z @ z if exponent else z
    assert made is not None
    return made.as_value()


@translates("aten.linalg_vecdot.default", "aten.vdot.default")
def vecdot(call: Call, x: Any, y: Any, *, dim: int = -1) -> Any:
    product = op.Mul(cast(x, call.dtype), cast(y, call.dtype))
    return op.ReduceSum(product, [axis_of(dim, rank_of(product))], keepdims=0)


@translates_complex("aten.linalg_cross.default")
@translates("aten.linalg_cross.default")
def linalg_cross(call: Call, x: Any, y: Any, *, dim: int = -1) -> Any:
    shape = call.output_shape()
    axis = axis_of(dim, len(shape))
    a, b = (operand(each, call.dtype).map(lambda part: expand(part, shape)) for each in (x, y))

    def turned(z: Field, order: list[int]) -> Field:
        return z.map(lambda part: op.Gather(part, np.array(order), axis=axis))

    made = turned(a, [1, 2, 0]) * turned(b, [2, 0, 1]) - turned(a, [2, 0, 1]) * turned(b, [1, 2, 0])
    return pair(made) if call.is_complex else made.re


@translates_complex("aten.cross.default")
@translates("aten.cross.default")
def cross(call: Call, x: Any, y: Any, dim: int | None = None) -> Any:
    if dim is None:  # the first dimension of three
        dim = next(k for k, each in enumerate(call.output.shape) if isinstance(each, int) and each == 3)
    return linalg_cross(call, x, y, dim=dim)


def _powers(call: Call, x: Field, count: Any) -> Field:
    """1, x, x², … along a new last dimension."""
    if isinstance(count, int) and count == 0:
        empty = filled(call.output_shape(), 0, x.dtype)
        return Field(empty, empty if x.is_complex else None)
    if x.rank == 0:
        x = x.map(lambda part: op.Reshape(part, [1]))
    shape = call.shape_of(x.re)
    one = filled(shape, 1, x.dtype)
    start = Field(one, filled(shape, 0, x.dtype) if x.is_complex else None)

    def step(i: Any, power: Field) -> Any:
        return [power * x], [power]

    made = loop(count, [start], step, [True])[1][0]
    return made.map(lambda part: op.Transpose(part, perm=[*range(1, rank_of(part)), 0]))


@translates_complex("aten.linalg_vander.default")
@translates("aten.linalg_vander.default")
def linalg_vander(call: Call, x: Any, *, N: Any = None) -> Any:
    made = _powers(call, operand(x, call.dtype), call.output_shape()[-1])
    return made.as_value()


@translates_complex("aten.vander.default")
@translates("aten.vander.default")
def vander(call: Call, x: Any, N: Any = None, increasing: bool = False) -> Any:
    made = _powers(call, operand(x, call.dtype), call.output_shape()[-1])
    if not increasing:
        made = made.map(
            lambda part: op.Slice(part, [-1], [np.iinfo(np.int64).min], [rank_of(part) - 1], [-1])
        )
    return made.as_value()
