"""Powers and the exponential of matrices, and small products of vectors."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg.lu import inverted
from onnxsmith.algorithms.linalg.matrices import batch_identity, sizes
from onnxsmith.algorithms.linalg.powers import cross as cross_of
from onnxsmith.algorithms.linalg.powers import matrix_exp as exponential
from onnxsmith.algorithms.linalg.powers import matrix_power as power_of
from onnxsmith.algorithms.linalg.powers import powers
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, axis_of, cast, expand, filled, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand, pair
from onnxsmith.torch.library.kinds import Given, Translated, sizes_in
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.registry import translates, translates_both
from onnxsmith.types.dtypes import DType


@translates_both("aten.matrix_exp.default", "aten.linalg_matrix_exp.default")
def matrix_exp(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call)
    return exponential(matrix(a)).as_value()


@translates_both("aten.matrix_power.default", "aten.linalg_matrix_power.default")
def matrix_power(call: Call, a: Given, n: int) -> Translated:
    z = operand(a, call.dtype)
    shape = sizes(z)
    if n == 0:
        return batch_identity(shape[:-2], shape[-2], shape[-1], z).as_value()
    if n < 0:
        if is_empty(z):
            return z.as_value()
        z = inverted(z.cast(DType.DOUBLE))[0]
    return power_of(z, abs(n)).as_value()


@translates("aten.linalg_vecdot.default", "aten.vdot.default")
def vecdot(call: Call, x: Tensor, y: Tensor, *, dim: int = -1) -> Translated:
    product = op.Mul(cast(x, call.dtype), cast(y, call.dtype))
    return op.ReduceSum(product, [axis_of(dim, rank_of(product))], keepdims=0)


@translates_both("aten.linalg_cross.default")
def linalg_cross(call: Call, x: Given, y: Given, *, dim: int = -1) -> Translated:
    shape = call.output_shape()
    axis = axis_of(dim, len(shape))
    a, b = (operand(each, call.dtype).map(expand, shape) for each in (x, y))

    made = cross_of(a, b, axis)
    return pair(made) if call.is_complex else made.re


@translates_both("aten.cross.default")
def cross(call: Call, x: Given, y: Given, dim: int | None = None) -> Translated:
    if dim is None:  # the first dimension of three
        dim = next(
            k for k, each in enumerate(sizes_in(call.output_fake())) if isinstance(each, int) and each == 3
        )
    return linalg_cross(call, x, y, dim=dim)


def _powers(call: Call, x: Field, count: Size) -> Field:
    """1, x, x², … along a new last dimension."""
    if isinstance(count, int) and count == 0:
        empty = filled(call.output_shape(), 0, x.dtype)
        return Field(empty, empty if x.is_complex else None)
    if x.rank == 0:
        x = x.map(op.Reshape, [1])
    return powers(x, count)


@translates_both("aten.linalg_vander.default")
def linalg_vander(call: Call, x: Given, *, N: int | None = None) -> Translated:
    made = _powers(call, operand(x, call.dtype), call.output_shape()[-1])
    return made.as_value()


@translates_both("aten.vander.default")
def vander(call: Call, x: Given, N: int | None = None, increasing: bool = False) -> Translated:
    made = _powers(call, operand(x, call.dtype), call.output_shape()[-1])
    if not increasing:
        made = made.map(
            lambda part: op.Slice(part, [-1], [np.iinfo(np.int64).min], [rank_of(part) - 1], [-1])
        )
    return made.as_value()
