"""Functions of eigenvalues and of singular values: eigh, eig, svd, pinv, ranks, condition numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import jacobi
from onnxsmith.algorithms.linalg.jacobi import singular_values
from onnxsmith.algorithms.linalg.matrices import ZERO, diagonal
from onnxsmith.algorithms.linalg.pseudoinverse import eigen_parts, pseudoinverse, singular_parts
from onnxsmith.algorithms.linalg.schur import eig as eigen
from onnxsmith.algorithms.linalg.schur import schur
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import cast, greatest, rank_of, sizes_of
from onnxsmith.torch.library.call import Call
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

EIGH = ("aten.linalg_eigh.default", "aten._linalg_eigh.default")


@translates_both(*EIGH)
def eigh(call: Call, a: Given, UPLO: str = "L", compute_v: bool = True) -> list[Given]:
    if is_empty(a):
        return empty_tensors(call)
    values, vectors = jacobi.eigh(jacobi.symmetric(matrix(a), UPLO.upper() == "U"))
    return [values, vectors.as_value()]


@translates_both("aten.linalg_eigvalsh.default")
def eigvalsh(call: Call, a: Given, UPLO: str = "L") -> Translated:
    return eigh(call, a, UPLO)[0]


SVD = ("aten.linalg_svd.default", "aten._linalg_svd.default")


@translates_both(*SVD)
def svd(
    call: Call, a: Given, full_matrices: bool = True, compute_uv: bool = True, *, driver: str | None = None
) -> Translated:
    if is_empty(a):
        return empty_with_identities(call, [0, 2])
    u, values, v = jacobi.svd(matrix(a), full_matrices, compute_uv)
    if u is None or v is None:
        nothing = empty_tensors(call)
        return [nothing[0], values, nothing[2]]
    return [u.as_value(), values, v.adjoint().as_value()]


@translates_both("aten.svd.default")
def svd_old(call: Call, a: Given, some: bool = True, compute_uv: bool = True) -> Translated:
    if is_empty(a):
        return empty_with_identities(call, [0, 2]) if compute_uv else empty_tensors(call)
    u, values, v = jacobi.svd(matrix(a), not some and compute_uv, compute_uv)
    if u is None or v is None:
        nothing = empty_tensors(call)
        return [nothing[0], values, nothing[2]]
    return [u.as_value(), values, v.as_value()]


@translates_both("aten.linalg_svdvals.default")
def svdvals(call: Call, a: Given, *, driver: str | None = None) -> Translated:
    return empty_results(call) if is_empty(a) else singular_values(matrix(a))


# -- ranks and inverses ---------------------------------------------------------------------------------------


#: A limit for all matrices, or a tensor of one for each.
Limit: TypeAlias = "Tensor | float"


def tolerance(call: Call, a: Field, largest: Tensor, atol: Limit | None, rtol: Limit | None) -> Tensor:
    """Below which a singular value counts as zero: torch's default is the precision times the larger size."""
    shape = sizes_of(a.re)
    relative: TensorOrArray
    if rtol is None:
        precise = torch.finfo(call.input_dtype(0)).eps
        size = greatest(shape[-2], shape[-1])
        relative = op.Mul(cast(size, DType.DOUBLE), np.float64(precise))
        if atol is not None:  # an absolute tolerance that is positive replaces the default
            positive = op.Greater(cast(atol, DType.DOUBLE), ZERO)
            relative = op.Where(positive, ZERO, relative)
    else:
        relative = cast(rtol, DType.DOUBLE)
    absolute = cast(atol, DType.DOUBLE) if atol is not None else ZERO
    return op.Max(_beside(absolute), largest * _beside(relative))


def _beside(value: TensorOrArray | np.float64) -> TensorOrArray | np.float64:
    """A tolerance for each matrix beside its values, of which there is one dimension more."""
    if not isinstance(value, Tensor) or rank_of(value) == 0:
        return value
    return op.Unsqueeze(value, [rank_of(value)])


def _values(a: Field, hermitian: bool) -> Tensor:
    if hermitian:
        return abs(jacobi.eigh(jacobi.symmetric(a, False))[0])
    return singular_values(a)


def _largest(values: Tensor) -> Tensor:
    return op.ReduceMax(values, [rank_of(values) - 1], keepdims=1)


RANKS = ("aten.linalg_matrix_rank.atol_rtol_tensor", "aten.linalg_matrix_rank.atol_rtol_float")


@translates_both(*RANKS)
def matrix_rank(
    call: Call, a: Given, *, atol: Limit | None = None, rtol: Limit | None = None, hermitian: bool = False
) -> Translated:
    if is_empty(a):
        return empty_results(call)
    z = matrix(a)
    values = _values(z, hermitian)
    limit = tolerance(call, z, _largest(values), atol, rtol)
    return op.ReduceSum(cast(values > limit, DType.INT64), [rank_of(values) - 1], keepdims=0)


@translates_both("aten.linalg_matrix_rank.default", "aten.linalg_matrix_rank.tol_tensor")
def matrix_rank_old(call: Call, a: Given, tol: Limit, hermitian: bool = False) -> Translated:
    return matrix_rank(call, a, atol=tol, rtol=0.0, hermitian=hermitian)


PINV = ("aten.linalg_pinv.atol_rtol_tensor", "aten.linalg_pinv.atol_rtol_float")


@translates_both(*PINV)
def pinv(
    call: Call, a: Given, *, atol: Limit | None = None, rtol: Limit | None = None, hermitian: bool = False
) -> Translated:
    if is_empty(a):
        return empty_results(call)
    z = matrix(a)
    parts = eigen_parts(z) if hermitian else singular_parts(z)
    limit = tolerance(call, z, _largest(abs(parts.values)), atol, rtol)
    return pseudoinverse(z, parts, limit).as_value()


@translates_both("aten.linalg_pinv.default", "aten.linalg_pinv.rcond_tensor", "aten.pinverse.default")
def pinv_old(call: Call, a: Given, rcond: Limit = 1e-15, hermitian: bool = False) -> Translated:
    return pinv(call, a, atol=0.0, rtol=rcond, hermitian=hermitian)


# -- eigenvalues by Schur's form -----------------------------------------------------------------------


@translates_both("aten.linalg_eig.default")
def eig(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call)
    return [each.as_value() for each in eigen(matrix(a))]


@translates_both("aten.linalg_eigvals.default", "aten._linalg_eigvals.default")
def eigvals(call: Call, a: Given) -> Translated:
    return empty_results(call) if is_empty(a) else diagonal(schur(matrix(a))[0]).as_value()
