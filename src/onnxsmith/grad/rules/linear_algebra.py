"""Equations and factors of `onnxsmith.algorithms.linalg`, whose bodies are loops: by the closed forms, in real numbers.

Factors of symmetric matrices read a part of the matrix; their gradients are symmetric all the same, as PyTorch's are.
Triangular systems, LU and QR factors, determinants and square factors of singular values are differentiated through
their loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import jacobi, lu
from onnxsmith.algorithms.linalg.matrices import sizes
from onnxsmith.algorithms.linalg.triangular import solved_triangular
from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.windows import sum_of
from onnxsmith.types.dtypes import DType

#: Values that differ by less than this part of the greatest are equal.
_ROUNDING = 1e-14


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
    return solved_triangular(Field(upper), Field(b), upper=True).re


def inverse_of_turned(x: Tensor) -> Tensor:
    """The inverse of the transpose of each matrix; not finite for one that has none."""
    turned = op.Cast(_turned(x), to=DType.DOUBLE)
    eye = op.Expand(_eye(turned), op.Shape(x))
    found = lu.solved(Field(turned), Field(eye), sizes(Field(eye)))[0].re
    return op.Cast(found, to=x.dtype)


@rule("solve", domain=ALGORITHMS, broadcasts=True)
def solution(step: Step, g: Tensor | None, *_: object) -> Cotangents:
    """With B' = A⁻ᵀ g, the cotangents are -B' Xᵀ and B'."""
    if g is None:
        return ()
    turned = _turned(step.input(0))
    found = lu.solved(Field(turned), Field(g), sizes(Field(g)))[0].re
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


def _is_thin(inputs: Sequence[object], attributes: Mapping[str, object], outputs: int) -> bool:
    """True if a decomposition has no more vectors than values; further vectors are the body's free choice."""
    return "full_true" not in str(attributes["form"])


@rule("svd", domain=ALGORITHMS, only=_is_thin)
def singular_parts(step: Step, *gs: Tensor | None) -> Cotangents:
    """U (diag(g) + W) Vᵀ, where W is half of (A + B) / (sⱼ - sᵢ) + (A - B) / (sⱼ + sᵢ).

    A is Uᵀ h - hᵀ U for the cotangent h of U, and B the same for V. What of h is no mix of the columns of U goes by
    the reciprocals of the values. Vectors of equal values have no gradient, as they can be turned.
    """
    x = step.input(0)
    if len(step.outputs) == 1:
        (by_values,) = gs
        assert by_values is not None  # a step is gone over because it is there
        u, _, v = jacobi.svd(Field(x), False)
        left, right = _real(u), _real(v)
        return (op.MatMul(left * op.Unsqueeze(by_values, [-2]), _turned(right)),)
    by_left, by_values, by_right = gs
    left, values, right = (step.output(k) for k in range(3))
    inner: Tensor | None = None
    if by_values is not None:
        inner = op.Unsqueeze(by_values, [-2]) * _eye(op.MatMul(_turned(left), left))
    a = None if by_left is None else _skew(op.MatMul(_turned(left), by_left))
    b = None if by_right is None else _skew(op.MatMul(_turned(right), by_right))
    if a is not None or b is not None:
        turns = _turns(a, b, values)
        inner = turns if inner is None else inner + turns
    assert inner is not None  # a step is gone over because one of them is there
    parts = [op.MatMul(op.MatMul(left, inner), _turned(right))]
    row = op.Unsqueeze(values, [-2])
    if by_left is not None:
        beyond = by_left - op.MatMul(left, op.MatMul(_turned(left), by_left))
        parts.append(op.MatMul(_over(beyond, row, left), _turned(right)))
    if by_right is not None:
        beyond = by_right - op.MatMul(right, op.MatMul(_turned(right), by_right))
        parts.append(op.MatMul(left, _turned(_over(beyond, row, right))))
    return (sum_of(parts),)


def _turns(a: Tensor | None, b: Tensor | None, values: Tensor) -> Tensor:
    """How far the vectors are turned into each other."""
    column, row = op.Unsqueeze(values, [-1]), op.Unsqueeze(values, [-2])
    greatest = op.ReduceMax(values, np.array([-1]), keepdims=1)
    gap = row - column
    # A gap of rounding is none: by it, a turn would be any number.
    is_none = op.LessOrEqual(op.Abs(gap), op.Unsqueeze(greatest, [-1]) * _ROUNDING)
    both = a + b if a is not None and b is not None else (a if b is None else b)
    assert both is not None  # one of them is there
    apart = a - b if a is not None and b is not None else (a if a is not None else -both)
    eye = _eye(gap)
    return (both / (op.Where(is_none, 0.0, gap) + eye) + apart / (row + column + eye)) * 0.5


def _over(beyond: Tensor, values: Tensor, vectors: Tensor) -> Tensor:
    """The part that is no mix of vectors, over the values; zero where there are as many vectors as dimensions."""
    is_square = op.Equal(op.Shape(vectors, start=-1), op.Shape(vectors, start=-2, end=-1))
    return op.Where(is_square, 0.0, beyond / op.Where(is_square, 1.0, values))


def _skew(x: Tensor) -> Tensor:
    return x - _turned(x)


def _real(part: Field | None) -> Tensor:
    assert part is not None, "vectors were asked for"
    return part.re


@rule("pseudoinverse", domain=ALGORITHMS)
def inverse_of_any(step: Step, g: Tensor) -> Cotangents:
    """-Pᵀ g Pᵀ + (I - A P) gᵀ P Pᵀ + Pᵀ P gᵀ (I - P A), which holds where values are equal, too."""
    a, p = step.input(0), step.output()
    turned, across = _turned(p), _turned(g)
    outside = op.MatMul(across, op.MatMul(p, turned))
    inside = op.MatMul(op.MatMul(turned, p), across)
    parts = [
        op.Neg(op.MatMul(op.MatMul(turned, g), turned)),
        outside - op.MatMul(a, op.MatMul(p, outside)),
        inside - op.MatMul(op.MatMul(inside, p), a),
    ]
    return (sum_of(parts),)


def _pair(gs: Sequence[Tensor | None]) -> tuple[Tensor | None, Tensor | None]:
    """The cotangents of two outputs, of which the second may not be there."""
    return gs[0], (gs[1] if len(gs) > 1 else None)
