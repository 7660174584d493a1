"""Checks a value of a model against the annotation of a parameter: element type, rank, sizes."""

from __future__ import annotations

from collections.abc import MutableMapping

import onnx_ir as ir

from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, Dimension, TensorType


def type_mismatch(wanted: AnyValueType, value: ir.Value, sizes: MutableMapping[str, Dimension]) -> str | None:
    """Why a value is not of a type; None where it is. `sizes` are those of the names seen, and grow."""
    if wanted == UNKNOWN_TENSOR:
        return None
    found = type_from_ir(value.type, value.shape)
    if not isinstance(wanted, TensorType) or not isinstance(found, TensorType):
        is_same = not isinstance(found, TensorType) and wanted.onnx_name == found.onnx_name
        return None if is_same else f"it is {found.described}, not {wanted.described}"
    if wanted.dtype is not None and wanted.dtype is not found.dtype:
        if found.dtype is None:
            return f"its element type is not known, and should be {wanted.dtype.spelling}"
        return f"it is {found.described}, not {wanted.dtype.spelling}"
    if wanted.shape is None:
        return None
    if found.shape is None:
        return f"its shape is not known, and should be {wanted!r}"
    if len(wanted.shape) != len(found.shape):
        return f"it has {len(found.shape)} dimensions, not {len(wanted.shape)}"
    for position, (size, given) in enumerate(zip(wanted.shape, found.shape, strict=True)):
        problem = _size_mismatch(size, given, sizes)
        if problem is not None:
            return f"dimension {position} {problem}"
    return None


def _size_mismatch(wanted: Dimension, found: Dimension, sizes: MutableMapping[str, Dimension]) -> str | None:
    if wanted is None:
        return None
    if isinstance(wanted, str):
        if wanted not in sizes:
            sizes[wanted] = found
            return None
        known = sizes[wanted]
        if known is None or known != found:
            return f"is {_shown(found)}, and '{wanted}' is {_shown(known)} elsewhere"
        return None
    return None if wanted == found else f"is {_shown(found)}, not {wanted}"


def _shown(size: Dimension) -> str:
    return "not known" if size is None else str(size)


def contradiction(wanted: AnyValueType, found: AnyValueType) -> str | None:
    """Why a value of one type cannot stand for one of another, as far as both are known."""
    if not isinstance(wanted, TensorType) or not isinstance(found, TensorType):
        is_same = type(wanted) is type(found) or UNKNOWN_TENSOR in (wanted, found)
        return None if is_same else f"is {found.described}, not {wanted.described}"
    return f"is {found.described}, not {wanted.described}" if contradict(wanted, found) else None
