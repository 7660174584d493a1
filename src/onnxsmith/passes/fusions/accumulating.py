"""A matrix that a product is added to: one `Gemm`, which reads and writes the matrix once.

A step of training is this, `weight - rate * (g.T @ x)`, and so is momentum. By hand, and not as rules: sum and
difference, the order of factors and numbers that may be left out would be dozens of patterns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.fusions.expressions import product_of
from onnxsmith.passes.values import fixed_shape, float_attribute, only_for, rank, same_shape


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A matrix or a product of two, times a number."""

    number: float
    matrix: ir.Value
    #: One more factor that only the model knows, as a learning rate is that each step is given.
    factor: ir.Value | None = None


def product_added(at: Attempt) -> Outcome:
    """`beta * c + alpha * (a @ b)`, and the differences of both."""
    left, right = at.input(0), at.input(1)
    sign = -1.0 if at.node.op_type == "Sub" else 1.0
    for added, alpha, kept, beta in ((right, sign, left, 1.0), (left, 1.0, right, sign)):
        if added is None or kept is None or not _may_be_one(added, kept):
            continue
        for product in _scaled(at, added):
            gemm = only_for(product.matrix, "Gemm")
            if gemm is not None and len(gemm.inputs) == 2:
                made = _accumulated(at, gemm, product, alpha, kept, beta)
                if made is not None:
                    return made
    return None


def _may_be_one(added: ir.Value, kept: ir.Value) -> bool:
    if added.dtype not in (ir.DataType.FLOAT, ir.DataType.DOUBLE) or added.dtype is not kept.dtype:
        return False
    return rank(added) == 2 and same_shape(added, kept)


def _scaled(at: Attempt, value: ir.Value) -> Iterator[_Scaled]:
    """A value as a matrix times numbers, in all ways to see it so."""
    found = product_of(at.edit, value)
    match found.factors:
        case [matrix]:
            yield _Scaled(found.number, matrix)
        case [first, second]:
            yield _Scaled(found.number, first, second)
            yield _Scaled(found.number, second, first)
        case _:
            return


def _accumulated(
    at: Attempt, gemm: ir.Node, product: _Scaled, alpha: float, kept: ir.Value, beta: float
) -> Outcome:
    a, b = gemm.inputs
    matrix = next(
        (each for each in _scaled(at, kept) if each.factor is None and rank(each.matrix) == 2), None
    )
    if matrix is None or not same_shape(matrix.matrix, kept):
        matrix = _Scaled(1.0, kept)
    alpha *= product.number * float_attribute(gemm, "alpha", 1.0)
    beta *= matrix.number
    # An attribute is of single precision.
    if kept.dtype is ir.DataType.DOUBLE and any(float(np.float32(each)) != each for each in (alpha, beta)):
        return None
    if a is None or not all(map(math.isfinite, (alpha, beta))):
        return None
    if product.factor is not None:
        if rank(product.factor) != 0 or not _is_smaller(a, kept):
            return None
        a = at.op("Mul", a, product.factor, like=a)
    turns = {name: gemm.attributes[name] for name in ("transA", "transB") if name in gemm.attributes}
    return at.op("Gemm", a, b, matrix.matrix, attributes=turns, alpha=alpha, beta=beta)


def _is_smaller(a: ir.Value, product: ir.Value) -> bool:
    """True if an operand has fewer elements than the product, so that it costs less to scale."""
    own, whole = fixed_shape(a), fixed_shape(product)
    return own is not None and whole is not None and math.prod(own) < math.prod(whole)


ACCUMULATING = {"Add": [product_added], "Sub": [product_added]}
