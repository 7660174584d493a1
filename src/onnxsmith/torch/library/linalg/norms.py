"""Norms of vectors and matrices, distances, and condition numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from onnxsmith.algorithms import distances
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg.norms import MatrixOrder, condition, matrix_length, vector_length
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import cast, converted, filled, has_zero, rank_of, size_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import operand
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.registry import translates, translates_both
from onnxsmith.torch.library.values import common
from onnxsmith.types.dtypes import DType

_HALVES = (DType.FLOAT16, DType.BFLOAT16)


def operand_of(call: Call, x: Given, dtype: torch.dtype | None = None) -> Field:
    """An argument in the element type that norms are computed in."""
    wanted = call.dtype if dtype is None else onnx_dtype(dtype)
    return operand(x, DType.FLOAT if wanted in _HALVES else wanted)


@translates_both("aten.linalg_vector_norm.default")
def vector_norm(
    call: Call,
    x: Given,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    return vector_length(operand_of(call, x, dtype), ord, dim, keepdim)


NORMS = (
    *("aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dim_dtype", "aten.norm.Scalar"),
    *("aten.norm.ScalarOpt_dtype", "aten.frobenius_norm.dim"),
)


@translates_both(*NORMS, by_name=True)
def norm(
    call: Call,
    x: Given,
    p: float | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Tensor:
    return vector_length(operand_of(call, x, dtype), 2 if p is None else p, dim, keepdim)


@translates_both("aten.dist.default")
def dist(call: Call, x: Given, y: Given, p: float = 2) -> Tensor:
    return vector_length(operand_of(call, x) - operand_of(call, y), p, None, False)


# -- matrices -------------------------------------------------------------------------------------------------


MATRIX_NORMS = ("aten.linalg_matrix_norm.default", "aten.linalg_matrix_norm.str_ord")


@translates_both(*MATRIX_NORMS)
def matrix_norm(
    call: Call,
    x: Given,
    ord: MatrixOrder = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Translated:
    if is_empty(x) and ord in ("nuc", 2, -2):
        return empty_results(call)
    return matrix_length(operand_of(call, x, dtype), ord, dim, keepdim)


GENERAL = ("aten.linalg_norm.default", "aten.linalg_norm.ord_str")


@translates_both(*GENERAL)
def linalg_norm(
    call: Call,
    x: Given,
    ord: MatrixOrder | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Translated:
    rank = call.input_fake().dim()
    dims = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if not isinstance(ord, str) and (ord is None or len(dims) == 1 or rank < 2):
        return vector_norm(call, x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(call, x, ord, dims, keepdim, dtype=dtype)


@translates_both("aten.nuclear_norm.default", "aten.nuclear_norm.dim")
def nuclear_norm(call: Call, x: Given, *args: bool | Sequence[int]) -> Translated:
    dims = args[0] if args and not isinstance(args[0], bool) else (-2, -1)
    keepdim = bool(args and isinstance(args[-1], bool) and args[-1])
    return matrix_norm(call, x, "nuc", dims, keepdim)


@translates_both("aten.linalg_cond.default", "aten.linalg_cond.p_str")
def cond(call: Call, a: Given, p: MatrixOrder | None = None) -> Translated:
    return empty_results(call) if is_empty(a) else condition(matrix(a), p)


# -- distances -----------------------------------------------------------------------------------------


def _is_trivial(call: Call, x: Tensor) -> bool:
    """True if rows have no elements, or there is nothing to compare."""
    return has_zero([size_of(x, -1), *call.output_shape()])


@translates("aten.cdist.default", "aten._cdist_forward.default")
def cdist(call: Call, x: Tensor, y: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    return distances.between(x, y, float(p))


@translates("aten.pdist.default", "aten._pdist_forward.default")
def pdist(call: Call, x: Tensor, p: float = 2.0) -> Tensor:
    if _is_trivial(call, x):
        return filled(call.output_shape(), 0, call.dtype)
    return distances.among(x, float(p))


@translates("aten.pairwise_distance.default")
def pairwise_distance(
    call: Call, x: Tensor, y: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    dtype = call.dtype
    # The difference is in the element type of the operands: whole numbers without a sign wrap around.
    difference = converted(op.Sub(*common(call, x, y)), dtype) + cast(eps, dtype)
    if rank_of(difference) == 0:
        raise call.refuse("a distance of scalars")
    result = distances.length(difference, float(p))
    return op.Unsqueeze(result, [-1]) if keepdim else result
