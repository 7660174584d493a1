"""What a value or node carries that no file holds, with a type: onnx-ir's `meta` says nothing of its entries."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, cast

import onnx_ir as ir


def notes_of(holder: ir.Value | ir.Node) -> MutableMapping[str, Any]:
    """The notes of a value or node, to read and to write."""
    return cast("MutableMapping[str, Any]", holder.meta)
