"""Linear layers that models spell out, as a rule: `Gemm` of a product and a sum."""

from __future__ import annotations

import functools

from onnxsmith.core.tensor import Tensor
from onnxsmith.passes.fusions.operators import op
from onnxsmith.passes.rules.match import Match
from onnxsmith.passes.rules.rule import Rule
from onnxsmith.types.dtypes import DType

_FLOATS = (DType.FLOAT, DType.FLOAT16, DType.DOUBLE)


def linear_layer(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A product of matrices plus a row."""
    return op.MatMul(x, weight) + bias


def _gemm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return op.Gemm(x, weight, bias)


def _are_matrices_and_a_row(match: Match) -> bool:
    x, weight, bias = match.tensor("x"), match.tensor("weight"), match.tensor("bias")
    if x.rank != 2 or weight.shape is None or len(weight.shape) != 2 or x.dtype not in _FLOATS:
        return False
    columns = weight.shape[1]
    is_row = columns is not None and bias.shape in ((columns,), (1, columns))
    return is_row and bias.dtype is x.dtype


@functools.cache
def products() -> tuple[Rule, ...]:
    """The rules, made when they are first needed."""
    return (Rule(linear_layer, _gemm, _are_matrices_and_a_row),)
