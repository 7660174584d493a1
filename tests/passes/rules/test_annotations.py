"""Why a value does not have the type that a rule asks for, case by case."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
import pytest

from onnxsmith import DOUBLE, FLOAT, INT64
from onnxsmith.passes.rules.annotations import contradiction, type_mismatch
from onnxsmith.types.value_types import UNKNOWN_TENSOR, SequenceType


def value(dtype: ir.DataType | None, shape: list[Any] | None) -> ir.Value:
    kind = None if dtype is None else ir.TensorType(dtype)
    return ir.Value(name="v", type=kind, shape=None if shape is None else ir.Shape(shape))


@pytest.mark.parametrize(
    ("wanted", "found", "why"),
    [
        (UNKNOWN_TENSOR, value(ir.DataType.FLOAT, [2]), None),
        (FLOAT["N"], value(ir.DataType.FLOAT, [2]), None),
        (FLOAT[...], value(ir.DataType.FLOAT, None), None),
        (FLOAT[2], value(ir.DataType.FLOAT, [2]), None),
        (FLOAT[3], value(ir.DataType.FLOAT, [2]), "dimension 0 is 2, not 3"),
        (FLOAT[3], value(ir.DataType.FLOAT, [None]), "dimension 0 is not known, not 3"),
        (FLOAT["N", "N"], value(ir.DataType.FLOAT, [2, 2]), None),
        (FLOAT["N", "N"], value(ir.DataType.FLOAT, [2, 3]), "dimension 1 is 3, and 'N' is 2 elsewhere"),
        (FLOAT["N", 2], value(ir.DataType.FLOAT, [2]), "it has 1 dimensions, not 2"),
        (FLOAT["N"], value(ir.DataType.FLOAT, None), "its shape is not known, and should be FLOAT['N']"),
        (FLOAT["N"], value(None, [2]), "its element type is not known, and should be float32"),
        (FLOAT["N"], value(ir.DataType.DOUBLE, [2]), "it is float64 of shape (2,), not float32"),
        (
            SequenceType(FLOAT["N"]),
            value(ir.DataType.FLOAT, [2]),
            "it is float32 of shape (2,), not sequence of float32 of shape (N,)",
        ),
    ],
)
def test_mismatches_are_named(wanted: Any, found: ir.Value, why: str | None) -> None:
    told = type_mismatch(wanted, found, {})
    assert told is None if why is None else told is not None and told.startswith(why), told


@pytest.mark.parametrize(
    ("wanted", "found", "is_other"),
    [
        (FLOAT["N"], FLOAT["M"], False),
        (FLOAT[2], FLOAT["M"], False),
        (FLOAT[2], FLOAT[3], True),
        (FLOAT[2], FLOAT[2, 2], True),
        (FLOAT[2], DOUBLE[2], True),
        (FLOAT[...], FLOAT[3], False),
        (UNKNOWN_TENSOR, INT64[3], False),
        (SequenceType(FLOAT[2]), FLOAT[2], True),
    ],
)
def test_types_that_exclude_each_other(wanted: Any, found: Any, is_other: bool) -> None:
    assert (contradiction(wanted, found) is not None) == is_other
