"""What eigenvalues of Hermitian matrices and singular values are for: eigh, svd, pinv, ranks, condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import jacobi
from onnxsmith.algorithms.linalg.jacobi import singular_values
from onnxsmith.algorithms.linalg.matrices import ZERO, expanded, identity
from onnxsmith.algorithms.linalg.pseudoinverse import eigen_parts, pseudoinverse, singular_parts
from onnxsmith.algorithms.values import greatest, sizes_of
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast, rank_of
from onnxsmith.types.dtypes import DType

EIGH = ("aten.linalg_eigh.default", "aten._linalg_eigh.default")


@translates_complex(*EIGH)
@translates(*EIGH)
def eigh(call: Call, a: Any, UPLO: str = "L", compute_v: bool = True) -> Any:
    if is_empty(a):
        return empty_results(call)
    values, vectors = jacobi.eigh(jacobi.symmetric(matrix(a), UPLO.upper() == "U"))
    return [values, vectors.as_value()]


@translates_complex("aten.linalg_eigvalsh.default")
@translates("aten.linalg_eigvalsh.default")
def eigvalsh(call: Call, a: Any, UPLO: str = "L") -> Any:
    return empty_results(call) if is_empty(a) else eigh(call, a, UPLO)[0]


SVD = ("aten.linalg_svd.default", "aten._linalg_svd.default")


@translates_complex(*SVD)
@translates(*SVD)
def svd(
    call: Call, a: Any, full_matrices: bool = True, compute_uv: bool = True, *, driver: str | None = None
) -> Any:
    if is_empty(a):
        return _empty_svd(call)
    u, values, v = jacobi.svd(matrix(a), full_matrices, compute_uv)
    if u is None or v is None:
        nothing = empty_results(call)
        return [nothing[0], values, nothing[2]]
    return [u.as_value(), values, v.adjoint().as_value()]


@translates_complex("aten.svd.default")
@translates("aten.svd.default")
def svd_old(call: Call, a: Any, some: bool = True, compute_uv: bool = True) -> Any:
    if is_empty(a) or not compute_uv:
        result = _empty_svd(call) if compute_uv else empty_results(call)
        return result if is_empty(a) else [result[0], jacobi.svd(matrix(a), False, False)[1], result[2]]
    u, values, v = jacobi.svd(matrix(a), not some)
    return [u.as_value(), values, v.as_value()]  # type: ignore[union-attr]


def _empty_svd(call: Call) -> Any:
    """Nothing to rotate: the vectors of a matrix without rows or columns are those of the identity."""
    results = empty_results(call)
    for k in (0, 2):
        shape = call.output_shape(k)
        if 0 not in shape:
            ones = expanded(identity(shape[-2], shape[-1]), shape)
            results[k] = Field(ones.re, results[k].imag).as_value() if call.is_complex else ones.re
    return results


@translates_complex("aten.linalg_svdvals.default")
@translates("aten.linalg_svdvals.default")
def svdvals(call: Call, a: Any, *, driver: str | None = None) -> Any:
    return empty_results(call) if is_empty(a) else singular_values(matrix(a))


# -- ranks and inverses ---------------------------------------------------------------------------------------


def tolerance(call: Call, a: Any, largest: Any, atol: Any, rtol: Any) -> Any:
    """Below which a singular value counts as zero: torch's default is the precision times the larger size."""
    shape = sizes_of(a.re)
    is_given = atol is not None
    if rtol is None:
        precise = torch.finfo(call.input_dtype(0)).eps
        size = greatest(shape[-2], shape[-1])
        relative = op.Mul(cast(size, DType.DOUBLE), np.float64(precise))
        if is_given:  # an absolute tolerance that is positive replaces the default
            positive = op.Greater(cast(atol, DType.DOUBLE), ZERO)
            relative = op.Where(positive, ZERO, relative)
    else:
        relative = cast(rtol, DType.DOUBLE)
    absolute = cast(atol, DType.DOUBLE) if is_given else ZERO
    relative = _beside(relative)
    absolute = _beside(absolute)
    return op.Max(absolute, op.Mul(largest, relative))


def _beside(value: Any) -> Any:
    """A tolerance for each matrix beside its values, of which there is one dimension more."""
    is_one = not isinstance(value, TensorValue) or rank_of(value) == 0
    return value if is_one else op.Unsqueeze(value, [rank_of(value)])


def _values(call: Call, a: Field, hermitian: bool) -> Any:
    if hermitian:
        return op.Abs(jacobi.eigh(jacobi.symmetric(a, False))[0])
    return singular_values(a)


def _largest(values: Any) -> Any:
    return op.ReduceMax(values, [rank_of(values) - 1], keepdims=1)


RANKS = ("aten.linalg_matrix_rank.atol_rtol_tensor", "aten.linalg_matrix_rank.atol_rtol_float")


@translates_complex(*RANKS)
@translates(*RANKS)
def matrix_rank(call: Call, a: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if is_empty(a):
        return empty_results(call)
    a = matrix(a)
    values = _values(call, a, hermitian)
    limit = tolerance(call, a, _largest(values), atol, rtol)
    return op.ReduceSum(cast(op.Greater(values, limit), DType.INT64), [rank_of(values) - 1], keepdims=0)


@translates_complex("aten.linalg_matrix_rank.default", "aten.linalg_matrix_rank.tol_tensor")
@translates("aten.linalg_matrix_rank.default", "aten.linalg_matrix_rank.tol_tensor")
def matrix_rank_old(call: Call, a: Any, tol: Any, hermitian: bool = False) -> Any:
    return matrix_rank(call, a, atol=tol, rtol=0.0, hermitian=hermitian)


PINV = ("aten.linalg_pinv.atol_rtol_tensor", "aten.linalg_pinv.atol_rtol_float")


@translates_complex(*PINV)
@translates(*PINV)
def pinv(call: Call, a: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if is_empty(a):
        return empty_results(call)
    a = matrix(a)
    parts = eigen_parts(a) if hermitian else singular_parts(a)
    limit = tolerance(call, a, _largest(op.Abs(parts.values)), atol, rtol)
    return pseudoinverse(parts, limit).as_value()


@translates_complex("aten.linalg_pinv.default", "aten.linalg_pinv.rcond_tensor", "aten.pinverse.default")
@translates("aten.linalg_pinv.default", "aten.linalg_pinv.rcond_tensor", "aten.pinverse.default")
def pinv_old(call: Call, a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> Any:
    return pinv(call, a, atol=0.0, rtol=rcond, hermitian=hermitian)
