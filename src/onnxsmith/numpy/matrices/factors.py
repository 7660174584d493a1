"""Factors of matrices: `cholesky`, `qr`, `svd`, `eigh`, `eig`."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import householder, jacobi, triangular
from onnxsmith.algorithms.linalg.matrices import diagonal, sizes
from onnxsmith.algorithms.linalg.schur import eig as eigen
from onnxsmith.algorithms.linalg.schur import schur
from onnxsmith.algorithms.operators import op
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, as_type
from onnxsmith.numpy.matrices.operands import matrices, part_dtype, refuse_faults, refuse_nan, scaled, working
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import NUMPYS_TUPLES, public


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Array
    S: Array
    Vh: Array


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


NUMPYS_TUPLES.update(
    {
        QRResult: lambda: np.linalg.qr(np.eye(1)),
        SVDResult: lambda: np.linalg.svd(np.eye(1)),
        EighResult: lambda: np.linalg.eigh(np.eye(1)),
        EigResult: lambda: np.linalg.eig(np.eye(1)),
    }
)


@recorded()
def _cholesky(a: Array, upper: bool) -> tuple[Array, Array]:
    z = working(a)
    lower, faults = triangular.cholesky(z.adjoint() if upper else z)
    shape = values.int64s(sizes(z))
    # A loop over no columns does not say what shape they would have had.
    lower = lower.map(op.Reshape, shape, allowzero=1)
    return array_from(lower.adjoint() if upper else lower), array_from(faults)


@public("linalg.cholesky")
def cholesky(x: ArrayLike, /, *, upper: bool = False) -> Array:
    """The triangular factor of Hermitian matrices that are positive definite.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.cholesky(xp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]])
    """
    a = matrices(x, square=True)
    made, faults = _cholesky(a, bool(upper))
    refuse_faults(faults, "the matrix is not positive definite")
    return as_type(made, a.dtype)


@recorded()
def _qr(a: Array, mode: Literal["reduced", "complete", "r"]) -> tuple[Array, Array]:
    z, scale = scaled(working(a))
    q, r = householder.factored(z, mode)
    r = r.map(lambda part: part * scale)
    return array_from(r if q is None else q), array_from(r)


@public("linalg.qr")
def qr(x: ArrayLike, /, mode: str = "reduced") -> QRResult | Array:
    """Q with orthonormal columns and the upper triangular R of A = Q R.

    >>> import onnxsmith.numpy as xp
    >>> q, r = xp.linalg.qr(xp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    >>> xp.allclose(q @ r, [[1.0, 2.0], [3.0, 4.0]])
    Array(True)
    """
    if mode not in ("reduced", "complete", "r"):
        raise AttributeValueError(
            f"mode is 'reduced', 'complete' or 'r', not {mode!r}", culprit=("attribute", "mode")
        )
    a = matrices(x)
    q, r = _qr(a, mode)
    if mode == "r":
        return as_type(r, a.dtype)
    return QRResult(as_type(q, a.dtype), as_type(r, a.dtype))


@recorded()
def _svd(a: Array, full: bool) -> tuple[Array, Array, Array]:
    z, scale = scaled(working(a))
    u, found, v = jacobi.svd(z, full)
    found = found * op.Squeeze(scale, [-1])
    assert u is not None  # vectors were asked for
    assert v is not None
    return array_from(u), array_from(found), array_from(v.adjoint())


@recorded()
def _singular_values(a: Array) -> Array:
    z, scale = scaled(working(a))
    return array_from(jacobi.singular_values(z) * op.Squeeze(scale, [-1]))


@public("linalg.svd")
def svd(
    x: ArrayLike, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | Array:
    """U, the singular values from the largest, and Vᴴ of A = U diag(S) Vᴴ.

    >>> import onnxsmith.numpy as xp
    >>> u, s, vh = xp.linalg.svd(xp.asarray([[3.0, 0.0], [0.0, 2.0]]))
    >>> s
    Array([3., 2.])
    """
    if not compute_uv:
        return svdvals(x)
    a = matrices(x)
    refuse_nan(a, "SVD did not converge")
    u, found, vh = _svd(a, bool(full_matrices))
    return SVDResult(as_type(u, a.dtype), as_type(found, part_dtype(a.dtype)), as_type(vh, a.dtype))


@public("linalg.svdvals")
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values, from the largest.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.svdvals(xp.asarray([[3.0, 0.0], [0.0, 2.0]]))
    Array([3., 2.])
    """
    a = matrices(x)
    refuse_nan(a, "SVD did not converge")
    return as_type(_singular_values(a), part_dtype(a.dtype))


@recorded()
def _eigh(a: Array, upper: bool) -> tuple[Array, Array]:
    # The other triangle does not count, whatever is in it.
    z, scale = scaled(jacobi.symmetric(working(a), upper))
    found, vectors = jacobi.eigh(z)
    found = found * op.Squeeze(scale, [-1])
    return array_from(found), array_from(vectors)


def _triangle(name: str) -> bool:
    if name.upper() not in ("L", "U"):
        raise AttributeValueError(f"UPLO is 'L' or 'U', not {name!r}", culprit=("attribute", "UPLO"))
    return name.upper() == "U"


@public("linalg.eigh")
def eigh(x: ArrayLike, /, UPLO: str = "L") -> EighResult:
    """Eigenvalues from the smallest and eigenvectors of Hermitian matrices.

    >>> import onnxsmith.numpy as xp
    >>> values, vectors = xp.linalg.eigh(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> values
    Array([2., 3.])
    """
    a = matrices(x, square=True)
    found, vectors = _eigh(a, _triangle(UPLO))
    return EighResult(as_type(found, part_dtype(a.dtype)), as_type(vectors, a.dtype))


@public("linalg.eigvalsh")
def eigvalsh(x: ArrayLike, /, UPLO: str = "L") -> Array:
    """Eigenvalues of Hermitian matrices, from the smallest.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.eigvalsh(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    Array([2., 3.])
    """
    return eigh(x, UPLO).eigenvalues


@recorded()
def _eig(a: Array) -> tuple[Array, Array]:
    z, scale = scaled(working(a))
    found, vectors = eigen(z)
    found = found.map(lambda part: part * op.Squeeze(scale, [-1]))
    return array_from(found), array_from(vectors)


@recorded()
def _eigvals(a: Array) -> Array:
    z, scale = scaled(working(a))
    made: Field = diagonal(schur(z)[0])
    return array_from(made.map(lambda part: part * op.Squeeze(scale, [-1])))


@public("linalg.eig")
def eig(x: ArrayLike, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices; both are complex.

    >>> import onnxsmith.numpy as xp
    >>> values, vectors = xp.linalg.eig(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> values
    Array([2.+0.j, 3.+0.j])
    """
    a = matrices(x, square=True)
    refuse_nan(a, "Array must not contain infs or NaNs", infinite=True)
    found, vectors = _eig(a)
    wanted = dtypes.complex_of(a.dtype)
    return EigResult(as_type(found, wanted), as_type(vectors, wanted))


@public("linalg.eigvals")
def eigvals(x: ArrayLike, /) -> Array:
    """Eigenvalues of square matrices; they are complex.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.eigvals(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    Array([2.+0.j, 3.+0.j])
    """
    a = matrices(x, square=True)
    refuse_nan(a, "Array must not contain infs or NaNs", infinite=True)
    return as_type(_eigvals(a), dtypes.complex_of(a.dtype))
