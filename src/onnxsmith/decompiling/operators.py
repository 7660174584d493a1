"""Python's own operators and indexing for the ONNX operators they stand for, where they give the same node back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.core.semantics.index_slices import LAST
from onnxsmith.decompiling.layout import Binary, Text
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "MatMul": "@"}
_COMPARISONS = {"Equal": "==", "Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">="}
_LOGICAL = {"And": "&", "Or": "|", "Xor": "^"}
_BITWISE = {"BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^"}


def operator_form(
    node: ir.Node, texts: Sequence[Text], is_symbolic: Sequence[bool], dtypes: Sequence[DType | None]
) -> Text | None:
    """`a + b` for Add and so on; None where the call has to be written out.

    `is_symbolic` says which operands are tensors of the graph: between others, Python would compute at once.
    """
    if node.attributes or node.domain not in ("", "ai.onnx") or len(node.outputs) != 1:
        return None
    if len(texts) == 2:
        return _binary(node.op_type, texts, is_symbolic, dtypes)
    if len(texts) == 1 and is_symbolic[0]:
        if node.op_type == "Neg" and dtypes[0] is not None and dtypes[0].kind != "unsigned":
            return f"-{texts[0]}"
        if node.op_type == "Not" and dtypes[0] is DType.BOOL:
            return f"~{texts[0]}"
    return None


def _binary(
    name: str, texts: Sequence[Text], is_symbolic: Sequence[bool], dtypes: Sequence[DType | None]
) -> Text | None:
    left, right = texts
    if not any(is_symbolic):
        return None
    if name in _ARITHMETIC:
        if dtypes[0] is DType.STRING or dtypes[1] is DType.STRING:
            return None
        if name == "MatMul" and not all(each is None or each.is_float or each.bits > 16 for each in dtypes):
            return None
        return Binary(left, _ARITHMETIC[name], right)
    if name in _COMPARISONS and is_symbolic[0]:  # turned round, Python would ask the other operand first
        return Binary(left, _COMPARISONS[name], right)
    if name in _LOGICAL and all(is_symbolic) and dtypes[0] is DType.BOOL and dtypes[1] is DType.BOOL:
        return Binary(left, _LOGICAL[name], right)
    if name in _BITWISE and all(is_symbolic) and _is_integer(dtypes[0]) and _is_integer(dtypes[1]):
        return Binary(left, _BITWISE[name], right)
    if name == "Pow" and dtypes[0] is not None and dtypes[0].is_float and dtypes[0] is dtypes[1]:
        return Binary(left, "**", right) if is_symbolic[0] else None
    return None


def _is_integer(dtype: DType | None) -> bool:
    return dtype is not None and dtype.is_integer


# -- indexing: `Slice`, `Gather` and `Unsqueeze` ---------------------------------------------------------

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
