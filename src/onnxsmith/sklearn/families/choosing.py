"""`either`: numpy's `where` with three arguments, which gives one array."""

from __future__ import annotations

from typing import cast

from onnxsmith.numpy import Array, where


def either(condition: Array | bool, yes: Array | float, no: Array | float) -> Array:
    """Element by element, `yes` where the condition holds, and `no` elsewhere."""
    return cast(Array, where(condition, yes, no))
