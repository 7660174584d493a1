"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms import extremes
from onnxsmith.algorithms.complex_numbers.field import Field, real
from onnxsmith.algorithms.linalg.jacobi import singular_values
from onnxsmith.algorithms.linalg.lu import inverted
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.reductions import reduce
from onnxsmith.algorithms.values import axis_of, converted, like, rank_of
from onnxsmith.types.dtypes import DType

#: A number, or the name of a norm of matrices.
MatrixOrder: TypeAlias = float | Literal["fro", "nuc"]


@algorithm(name="vector_norm")
def vector_length(z: Field, order: float, dims: int | Sequence[int] | None, keepdim: bool) -> Tensor:
    """The norm of a given order along dimensions, all for None."""
    if z.rank == 0:
        return converted(z.is_nonzero(), z.dtype) if order == 0 else z.size()
    if order == 2 and not z.is_complex:
        return reduce("ReduceL2", z.re, dims, keepdim)
    if order == 2:
        return _root(reduce("ReduceSum", z.squared_size(), dims, keepdim), 2)
    if order == 0:
        return reduce("ReduceSum", converted(z.is_nonzero(), z.dtype), dims, keepdim)
    size = z.size()
    if math.isinf(order):
        axes = range(z.rank) if dims is None else [dims] if isinstance(dims, int) else dims
        return _extreme(size, [axis_of(each, z.rank) for each in axes], keepdim, is_max=order > 0)
    if order == 1:
        return reduce("ReduceSum", size, dims, keepdim)
    if order > 1:
        return _root(reduce("ReduceSum", op.Pow(size, real(order, z)), dims, keepdim), order)
    zero = real(0.0, z)
    is_zero = op.Equal(size, zero)
    # Powers of zero are infinite, or rise so: there would be no slope.
    powers = op.Pow(op.Where(is_zero, 1.0, size), real(order, z))
    if order > 0:
        return _root(reduce("ReduceSum", op.Where(is_zero, zero, powers), dims, keepdim), order)
    # Where an element is zero, so is the norm, and its slope.
    total = reduce("ReduceSum", powers, dims, keepdim)
    is_zero = op.Equal(reduce("ReduceMin", size, dims, keepdim), zero)
    return op.Where(is_zero, zero, op.Pow(total, real(1 / order, z)))


def _root(total: Tensor, order: float) -> Tensor:
    """A root of a sum of powers; flat at zero, where its slope would be infinite."""
    zero, one = like(0, total), like(1, total)
    is_zero = op.Equal(total, zero)
    safe = op.Where(is_zero, one, total)
    return op.Where(is_zero, zero, op.Sqrt(safe) if order == 2 else op.Pow(safe, like(1 / order, total)))


def _extreme(size: Tensor, axes: Sequence[int], keepdim: bool, *, is_max: bool) -> Tensor:
    """The extreme of lengths, NaN if one is; the greatest of none is 0."""
    found = extremes.extreme(Field(size), list(axes), keepdim, is_max=is_max).re
    zero = like(0, found)
    return op.Where(found < zero, zero, found) if is_max else found


@algorithm(name="matrix_norm")
def matrix_length(z: Field, order: MatrixOrder, dim: Sequence[int], keepdim: bool) -> Tensor:
    """A norm of the matrices that two dimensions span."""
    rows, columns = (axis_of(each, z.rank) for each in dim)
    if order == "fro":
        return vector_length(z, 2, [rows, columns], keepdim)
    if order == "nuc" or order in (2, -2):
        return _spectral(z, order, rows, columns, keepdim)
    if order in (math.inf, -math.inf):
        rows, columns = columns, rows
    sums = reduce("ReduceSum", z.size(), [rows], True)
    made = _extreme(sums, [columns], True, is_max=order > 0)
    return made if keepdim else op.Squeeze(made, [rows, columns])


def _spectral(z: Field, order: MatrixOrder, rows: int, columns: int, keepdim: bool) -> Tensor:
    """From the singular values: their sum, the largest or the smallest."""
    rest = [k for k in range(z.rank) if k not in (rows, columns)]
    moved = z.map(op.Transpose, perm=[*rest, rows, columns])
    values = singular_values(moved.cast(DType.DOUBLE))
    last = rank_of(values) - 1
    if order == "nuc":
        made = reduce("ReduceSum", values, [last], False)
    else:
        made = _extreme(values, [last], False, is_max=order == 2)
    return op.Unsqueeze(made, sorted([rows, columns])) if keepdim else made


@algorithm(name="condition_number")
def condition(a: Field, order: MatrixOrder | None) -> Tensor:
    """How much a system of equations makes of an error: the norms of a matrix and of its inverse, multiplied."""
    if order is None or order in (2, -2):
        values = singular_values(a)
        last = rank_of(values) - 1
        largest = op.ReduceMax(values, np.array([last]), keepdims=0)
        smallest = op.ReduceMin(values, np.array([last]), keepdims=0)
        return smallest / largest if order == -2 else largest / smallest
    inverse, info = inverted(a)
    both = matrix_length(a, order, (-2, -1), False) * matrix_length(inverse, order, (-2, -1), False)
    return op.Where(info > 0, np.float64(np.inf), both)
