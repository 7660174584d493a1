"""Python's own operators for the ONNX operators that they stand for, wherever they give the same node back."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.decompiling.layout import Binary, Text
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
