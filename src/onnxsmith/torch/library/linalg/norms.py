# pyright: basic
"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.field import Field
from onnxsmith.torch.library.linalg.lu import inverted
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.linalg.spectra import singular_values
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.reductions import reduce
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import axis_of, cast, rank_of
from onnxsmith.types.dtypes import DType

_HALVES = (DType.FLOAT16, DType.BFLOAT16)


def operand_of(call: Call, x: Any, dtype: Any = None) -> Field:
    """An argument in the element type that norms are computed in."""
    wanted = call.dtype if dtype is None else onnx_dtype(dtype)
    return operand(x, DType.FLOAT if wanted in _HALVES else wanted)


def vector_length(z: Field, order: float, dims: Any, keepdim: bool) -> Any:
    """The norm of a given order along dimensions, all for None."""
    if z.rank == 0:
        return cast(z.is_nonzero(), z.dtype) if order == 0 else z.size()
    if order == 2 and not z.is_complex:
        return reduce("ReduceL2", z.re, dims, keepdim)
    if order == 2:
        return op.Sqrt(reduce("ReduceSum", z.squared_size(), dims, keepdim))
    if order == 0:
        return reduce("ReduceSum", cast(z.is_nonzero(), z.dtype), dims, keepdim)
    size = z.size()
    if math.isinf(order):
        return reduce("ReduceMax" if order > 0 else "ReduceMin", size, dims, keepdim)
    if order == 1:
        return reduce("ReduceSum", size, dims, keepdim)
    total = reduce("ReduceSum", op.Pow(size, cast(order, z.dtype)), dims, keepdim)
    return op.Pow(total, cast(1 / order, z.dtype))


@translates_complex("aten.linalg_vector_norm.default")
@translates("aten.linalg_vector_norm.default")
def vector_norm(
    call: Call, x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    return vector_length(operand_of(call, x, dtype), ord, dim, keepdim)


NORMS = ("aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dim_dtype")
WHOLE_NORMS = ("aten.norm.Scalar", "aten.norm.ScalarOpt_dtype")


@translates_complex(*NORMS)
@translates(*NORMS)
def norm(call: Call, x: Any, p: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return vector_length(operand_of(call, x, dtype), 2 if p is None else p, dim, keepdim)


@translates_complex(*WHOLE_NORMS)
@translates(*WHOLE_NORMS)
def norm_of_all(call: Call, x: Any, p: Any = 2, *, dtype: Any = None) -> Any:
    return vector_length(operand_of(call, x, dtype), 2 if p is None else p, None, False)


@translates_complex("aten.frobenius_norm.dim")
@translates("aten.frobenius_norm.dim")
def frobenius_norm(call: Call, x: Any, dim: Any, keepdim: bool = False) -> Any:
    return vector_length(operand_of(call, x), 2, dim, keepdim)


@translates_complex("aten.dist.default")
@translates("aten.dist.default")
def dist(call: Call, x: Any, y: Any, p: float = 2) -> Any:
    return vector_length(operand_of(call, x) - operand_of(call, y), p, None, False)


# -- matrices -------------------------------------------------------------------------------------------------


def matrix_length(call: Call, z: Field, order: Any, dim: Any, keepdim: bool) -> Any:
    """A norm of the matrices that two dimensions span."""
    rows, columns = (axis_of(each, z.rank) for each in dim)
    if order == "fro":
        return vector_length(z, 2, [rows, columns], keepdim)
    if order in ("nuc", 2, -2):
        return _spectral(call, z, order, rows, columns, keepdim)
    if order in (math.inf, -math.inf):
        rows, columns = columns, rows
    sums = reduce("ReduceSum", z.size(), [rows], True)
    made = reduce("ReduceMax" if order > 0 else "ReduceMin", sums, [columns], True)
    return made if keepdim else op.Squeeze(made, [rows, columns])


def _spectral(call: Call, z: Field, order: Any, rows: int, columns: int, keepdim: bool) -> Any:
    """From the singular values: their sum, the largest or the smallest."""
    rest = [k for k in range(z.rank) if k not in (rows, columns)]
    moved = z.map(lambda part: op.Transpose(part, perm=[*rest, rows, columns]))
    values = singular_values(call, moved.cast(DType.DOUBLE))
    name = {"nuc": "ReduceSum", 2: "ReduceMax", -2: "ReduceMin"}[order]
    made = reduce(name, values, [rank_of(values) - 1], False)
    return op.Unsqueeze(made, sorted([rows, columns])) if keepdim else made


MATRIX_NORMS = ("aten.linalg_matrix_norm.default", "aten.linalg_matrix_norm.str_ord")


@translates_complex(*MATRIX_NORMS)
@translates(*MATRIX_NORMS)
def matrix_norm(
    call: Call, x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    if is_empty(x) and ord in ("nuc", 2, -2):
        return empty_results(call)
    return matrix_length(call, operand_of(call, x, dtype), ord, dim, keepdim)


GENERAL = ("aten.linalg_norm.default", "aten.linalg_norm.ord_str")


@translates_complex(*GENERAL)
@translates(*GENERAL)
def linalg_norm(
    call: Call, x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    rank = call.inputs[0].dim()
    dims = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if ord is None or (len(dims) == 1 or rank < 2):
        return vector_norm(call, x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(call, x, ord, dims, keepdim, dtype=dtype)


@translates_complex("aten.nuclear_norm.default", "aten.nuclear_norm.dim")
@translates("aten.nuclear_norm.default", "aten.nuclear_norm.dim")
def nuclear_norm(call: Call, x: Any, *args: Any) -> Any:
    dims = args[0] if args and not isinstance(args[0], bool) else (-2, -1)
    keepdim = bool(args and isinstance(args[-1], bool) and args[-1])
    return matrix_norm(call, x, "nuc", dims, keepdim)


@translates_complex("aten.linalg_cond.default", "aten.linalg_cond.p_str")
@translates("aten.linalg_cond.default", "aten.linalg_cond.p_str")
def cond(call: Call, a: Any, p: Any = None) -> Any:
    """How much a system of equations makes of an error: the norms of a matrix and of its inverse, multiplied."""
    if is_empty(a):
        return empty_results(call)
    a = matrix(a)
    if p is None or p in (2, -2):
        values = singular_values(call, a)
        last = rank_of(values) - 1
        largest = op.ReduceMax(values, np.array([last]), keepdims=0)
        smallest = op.ReduceMin(values, np.array([last]), keepdims=0)
        return op.Div(smallest, largest) if p == -2 else op.Div(largest, smallest)
    inverse, info = inverted(call, a)
    both = op.Mul(
        matrix_length(call, a, p, (-2, -1), False), matrix_length(call, inverse, p, (-2, -1), False)
    )
    return op.Where(op.Greater(info, np.int64(0)), np.float64(np.inf), both)
