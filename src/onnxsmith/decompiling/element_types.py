"""The element types of values, as far as the operators' signatures tell: enough to know what a literal becomes.

Never knows more than the compiler will when it reads the code again, so it takes nothing from notes in the model.
"""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.schema.definition import OperatorDef, parameter_at
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type

#: Attributes that name the element type of the result.
_NAMING = ("to", "dtype")


class ElementTypes:
    """The known element types of the values of a graph, filled in the order of its nodes."""

    def __init__(self) -> None:
        self._dtypes: dict[ir.Value, DType | None] = {}

    def declare(self, value: ir.Value) -> None:
        """An input or initializer, which says what it is."""
        kind = type_from_ir(value.type, value.shape)
        self._dtypes[value] = kind.dtype if isinstance(kind, TensorType) else None

    def pass_on(self, initial: ir.Value | None, value: ir.Value) -> None:
        """Notes a value that a loop carries: its start alone gives its type in the code, whatever the body declares."""
        if initial is not None and self._dtypes.get(initial) is None:
            self._dtypes[value] = None

    def of(self, value: ir.Value) -> DType | None:
        """The element type of a tensor, None where it is not known."""
        return self._dtypes.get(value)

    def type_of(self, value: ir.Value | None) -> AnyValueType | None:
        """The same as a type, for those who resolve literals; None for a missing input."""
        return None if value is None else TensorType(self._dtypes.get(value), None)

    def visit(self, node: ir.Node, op: OperatorDef | None) -> None:
        """Take note of what a node makes."""
        if op is None:
            return
        bound: dict[str, DType] = {}
        for position, value in enumerate(node.inputs):
            parameter = parameter_at(op.inputs, position)
            dtype = None if value is None else self._dtypes.get(value)
            if parameter is not None and dtype is not None and parameter.is_homogeneous:
                bound.setdefault(parameter.type_name, dtype)
        named = _named_dtype(node, op)
        if op.domain == "" and op.name in ("If", "Loop"):
            self._visit_control_flow(node)
            return
        for position, value in enumerate(node.outputs):
            parameter = parameter_at(op.outputs, position)
            if parameter is None:
                continue
            only = parse_onnx_type(next(iter(parameter.types))) if len(parameter.types) == 1 else None
            dtype = bound.get(parameter.type_name)
            if isinstance(only, TensorType):
                dtype = only.dtype
            elif dtype is None and position == 0:
                dtype = named
            self._dtypes[value] = dtype

    def _visit_control_flow(self, node: ir.Node) -> None:
        name, hidden = ("then_branch", 0) if node.op_type == "If" else ("body", 1)
        attribute = node.attributes.get(name)
        if attribute is None or attribute.is_ref():
            return
        inner = list(cast(ir.Graph, attribute.value).outputs)[hidden:]
        for value, source in zip(node.outputs, inner, strict=False):
            self._dtypes[value] = self._dtypes.get(source)


def _named_dtype(node: ir.Node, op: OperatorDef) -> DType | None:
    for name in _NAMING:
        attribute = node.attributes.get(name)
        formal = op.attributes.get(name)
        if attribute is not None and formal is not None and formal.names_dtype and not attribute.is_ref():
            code = attribute.value
            return DType(cast(int, code)) if code in DType._value2member_map_ else None
    if node.op_type in ("Constant", "ConstantOfShape") and node.domain in ("", "ai.onnx"):
        value = node.attributes.get("value")
        if value is not None and not value.is_ref() and value.type == ir.AttributeType.TENSOR:
            return DType(int(value.value.dtype))
        if value is None and node.op_type == "ConstantOfShape":
            return DType.FLOAT
    return None
