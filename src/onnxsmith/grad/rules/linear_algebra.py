"""Equations and factors of `onnxsmith.algorithms.linalg`, whose bodies are loops: by the closed forms, in real numbers.

Factors of symmetric matrices read a part of the matrix; their gradients are symmetric all the same, as PyTorch's are.
Triangular systems, LU and QR factors, determinants and singular values are differentiated through their loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import lu
from onnxsmith.algorithms.linalg.matrices import sizes
from onnxsmith.algorithms.linalg.triangular import solved_triangular
from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.types.dtypes import DType


def _turned(x: Tensor) -> Tensor:
    """The transpose of each matrix."""
    shape = shape_of(x)
    assert shape is not None  # algorithms are recorded for known ranks
    rank = len(shape)
    return op.Transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])


def _eye(x: Tensor) -> Tensor:
    """A matrix of the element type of `x`, with ones on the diagonal, that broadcasts to `x`."""
    return op.EyeLike(op.ConstantOfShape(op.Slice(op.Shape(x), [-2], [2**62])), dtype=x.dtype)


def _upper_solved(upper: Tensor, b: Tensor) -> Tensor:
    return cast(Tensor, solved_triangular(Field(upper), Field(b), upper=True).re)


def inverse_of_turned(x: Tensor) -> Tensor:
    """The inverse of the transpose of each matrix; not finite for one that has none."""
    turned = op.Cast(_turned(x), to=DType.DOUBLE)
    eye = op.Expand(_eye(turned), op.Shape(x))
    found = cast(Tensor, lu.solved(Field(turned), Field(eye), sizes(Field(eye)))[0].re)
    return op.Cast(found, to=x.dtype)


@rule("solve", domain=ALGORITHMS, broadcasts=True)
def solution(step: Step, g: Tensor | None, *_: object) -> Cotangents:
    """With B' = A⁻ᵀ g, the cotangents are -B' Xᵀ and B'."""
    if g is None:
        return ()
    turned = _turned(step.input(0))
    found = cast(Tensor, lu.solved(Field(turned), Field(g), sizes(Field(g)))[0].re)
    return (lambda: -op.MatMul(found, _turned(step.output()))), found


@rule("inverse", domain=ALGORITHMS)
def inverse(step: Step, g: Tensor | None, *_: object) -> Cotangents:
    if g is None:
        return ()
    turned = _turned(step.output())
    return (-op.MatMul(op.MatMul(turned, g), turned),)


@rule("cholesky", domain=ALGORITHMS)
def lower_factor(step: Step, g: Tensor | None, *_: object) -> Cotangents:
    """L⁻ᵀ P L⁻¹, made symmetric, where P is the lower triangle of Lᵀ g with half of the diagonal."""
    if g is None:
        return ()
    lower = step.output()
    upper = _turned(lower)
    product = op.Trilu(op.MatMul(upper, g), upper=0)
    half = product - product * _eye(product) * 0.5
    left = _upper_solved(upper, half)
    whole = _turned(_upper_solved(upper, _turned(left)))
    return ((whole + _turned(whole)) * 0.5,)


@rule("eigh", domain=ALGORITHMS)
def eigenvectors(step: Step, *gs: Tensor | None) -> Cotangents:
    """V (diag(g) + S / (wⱼ - wᵢ)) Vᵀ, where S is half of Vᵀ h - hᵀ V.

    Vectors of equal values have no gradient, as they can be turned.
    """
    by_values, by_vectors = _pair(gs)
    values, vectors = step.output(0), step.output(1)
    turned = _turned(vectors)
    inner: Tensor | None = None
    if by_vectors is not None:
        eye = _eye(vectors)
        gaps = op.Unsqueeze(values, [-2]) - op.Unsqueeze(values, [-1]) + eye
        product = op.MatMul(turned, by_vectors)
        inner = (product - _turned(product)) * 0.5 / gaps
    if inner is None:
        assert by_values is not None  # a step is gone over because one of them is there
        return (op.MatMul(vectors * op.Unsqueeze(by_values, [-2]), turned),)
    if by_values is not None:
        inner = inner + op.Unsqueeze(by_values, [-2]) * _eye(vectors)
    return (op.MatMul(op.MatMul(vectors, inner), turned),)


def _pair(gs: Sequence[Tensor | None]) -> tuple[Tensor | None, Tensor | None]:
    """The cotangents of two outputs, of which the second may not be there."""
    return gs[0], (gs[1] if len(gs) > 1 else None)
