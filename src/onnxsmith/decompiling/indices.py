"""Python's indexing for the `Slice`, `Gather` and `Unsqueeze` nodes that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.core.semantics.index_slices import LAST
from onnxsmith.schema.definition import OperatorDef

#: Further back, a call says more than a row of colons.
_LAST_AXIS = 4


def index_form(node: ir.Node, op: OperatorDef, variable: str, literals: Sequence[Any]) -> str | None:
    """`x[1:, 0]` for a node whose other inputs are these literals; None where the call has to be written out."""
    if op.domain or len(node.outputs) != 1:
        return None
    if op.name == "Slice" and op.since_version >= 10 and not node.attributes:
        places = _slices(literals)
    elif op.name == "Gather":
        places = _place(node, literals)
    elif op.name == "Unsqueeze" and op.since_version >= 13 and len(literals) == 1:
        places = _new_axis(literals[0])
    else:
        return None
    if places is None or max(places) > _LAST_AXIS:
        return None
    parts = [places.get(axis, ":") for axis in range(max(places) + 1)]
    return f"{variable}[{', '.join(parts)}]"


def _slices(literals: Sequence[Any]) -> dict[int, str] | None:
    """Slices by axis. Indexing leaves steps out where all are 1, and gives axes always."""
    if len(literals) not in (3, 4) or not all(_is_list_of_ints(each) for each in literals):
        return None
    starts, ends, axes, *rest = literals
    steps = rest[0] if rest else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or (rest and all(each == 1 for each in steps)):
        return None
    if axes != sorted(set(axes)) or any(axis < 0 for axis in axes) or any(step < 1 for step in steps):
        return None
    found: dict[int, str] = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if (start, end, step) == (0, LAST, 1):
            return None  # takes everything, and is no slice to Python
        text = f"{'' if start == 0 else start}:{'' if end == LAST else end}"
        found[axis] = text if step == 1 else f"{text}:{step}"
    return found


def _place(node: ir.Node, literals: Sequence[Any]) -> dict[int, str] | None:
    """One place along an axis; indexing gives the attribute where it is not 0."""
    if len(literals) != 1 or not _is_int(literals[0]) or set(node.attributes) - {"axis"}:
        return None
    attribute = node.attributes.get("axis")
    if attribute is None:
        return {0: str(literals[0])}
    axis = None if attribute.is_ref() else attribute.value
    return {axis: str(literals[0])} if isinstance(axis, int) and axis > 0 else None


def _new_axis(axes: Any) -> dict[int, str] | None:
    return {axes[0]: "None"} if _is_list_of_ints(axes) and len(axes) == 1 and axes[0] >= 0 else None


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list_of_ints(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[Any]", value)
    return bool(items) and all(map(_is_int, items))
