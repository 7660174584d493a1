"""Inverses of matrices that have none, from singular values or, for Hermitian ones, eigenvalues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import jacobi
from onnxsmith.algorithms.linalg.matrices import ZERO
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import rank_of


class Parts(NamedTuple):
    """A = U diag(values) Vᴴ."""

    u: Field
    values: Tensor
    v: Field


def singular_parts(a: Field) -> Parts:
    """Of any matrices."""
    u, values, v = jacobi.svd(a, False)
    assert u is not None, "vectors were asked for"
    assert v is not None, "vectors were asked for"
    return Parts(u, values, v)


def eigen_parts(a: Field) -> Parts:
    """Of Hermitian matrices, whose lower triangle is read."""
    values, u = jacobi.eigh(jacobi.symmetric(a, False))
    return Parts(u, values, u)


@algorithm(has_gradient=True)
def pseudoinverse(a: Field, parts: Parts, limit: Tensor) -> Field:
    """The inverse of `a` on what has values greater than a limit, zero on the rest.

    It is made of the parts alone. `a` is what its gradient is by: parts of equal values have none.
    """
    u, values, v = parts
    is_kept = abs(values) > limit
    inverse = op.Where(is_kept, 1 / op.Where(is_kept, values, np.float64(1)), ZERO)
    row = op.Unsqueeze(inverse, [rank_of(inverse) - 1])
    return v.map(lambda part: part * row) @ u.adjoint()
