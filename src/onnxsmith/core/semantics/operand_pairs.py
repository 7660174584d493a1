"""The two sides of a Python operator that takes several nodes: one element type, a literal converted once."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.core.operands import dtype_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.value import NumberValue, Operand
from onnxsmith.errors import MixedDTypesError
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.promote import is_literal, literal_array


def as_pair(op: StandardOperators, a: Operand, b: Operand, meant: str) -> tuple[Operand, Operand]:
    """Both sides, with literals in the other side's element type as far as that is known.

    `meant` is the operator that the user's stands for, to name in an error.
    """
    definition = getattr(op, meant).definition
    return _as_operand(definition, a, b, 0), _as_operand(definition, b, a, 1)


def _as_operand(meant: OperatorDef, value: Operand, other: Operand, position: int) -> Operand:
    """One side of an operator, with the element type of the other where it has none of its own."""
    dtype = dtype_of(value, other)
    if isinstance(value, NumberValue):
        if dtype is None:
            return value.as_like(other)
        literal_array(meant, position, value.sample, dtype)  # refused as a literal of its kind would be
        return value.as_dtype(dtype)
    if not is_literal(value):
        return np.array(cast(Any, value)) if isinstance(value, np.generic) else value
    return value if dtype is None else literal_array(meant, position, value, dtype)


def check_one_dtype(symbol: str, a: Operand, b: Operand, hint: str = "") -> None:
    """Refuse two element types; `symbol` is the operator as the user wrote it."""
    left, right = dtype_of(a), dtype_of(b)
    if left is not None and right is not None and left is not right:
        raise MixedDTypesError(
            f"'{symbol}' needs one element type, got {left.spelling} and {right.spelling}",
            help=f"ONNX does not promote element types; convert one of them with x.astype(…){hint}",
        )
