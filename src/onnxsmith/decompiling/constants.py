"""Chooses the constants that become literals: small ones, where a literal becomes exactly that tensor again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.element_types import ElementTypes
from onnxsmith.decompiling.layout import Text
from onnxsmith.decompiling.literals import literal
from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.schema.definition import OperatorDef, parameter_at
from onnxsmith.schema.promote import resolve_literals
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType


@dataclass(frozen=True, slots=True)
class Inline:
    """A constant that is written where it is used."""

    value: Any
    text: Text
    #: The Constant node that makes it; None for an initializer.
    node: ir.Node | None


def constant_tensor(value: ir.Value) -> tuple[ir.TensorProtocol, ir.Node | None] | None:
    """The tensor of an initializer, or of a Constant node that says nothing else."""
    node = value.producer()
    if node is None:
        is_dense = value.const_value is not None and not isinstance(value.const_value, SparseTensor)
        return (cast(ir.TensorProtocol, value.const_value), None) if is_dense else None
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.outputs) != 1:
        return None
    attribute = node.attributes.get("value")
    if len(node.attributes) != 1 or attribute is None or attribute.is_ref():
        return None
    if attribute.type != ir.AttributeType.TENSOR or node.doc_string:
        return None
    if attribute.doc_string or node.metadata_props.keys() - {SOURCE_KEY}:
        return None
    return cast(ir.TensorProtocol, attribute.value), node


class Constants:
    """Answers for each value of a script whether it is written as a literal."""

    def __init__(
        self,
        types: ElementTypes,
        definition: Callable[[ir.Node], OperatorDef | None],
        held: set[ir.Value],
    ) -> None:
        self._types = types
        self._definition = definition
        #: Inputs and outputs of graphs: these keep their own names.
        self._held = held
        self._found: dict[ir.Value, Inline | None] = {}

    def inline(self, value: ir.Value) -> Inline | None:
        """The literal for a value; None where it has a place of its own."""
        if value not in self._found:
            self._found[value] = None  # while it is looked at, and where it is not one
            self._found[value] = self._decide(value)
        return self._found[value]

    def _decide(self, value: ir.Value) -> Inline | None:
        if value in self._held or not value.name:
            return None
        constant = constant_tensor(value)
        if constant is None:
            return None
        tensor, node = constant
        uses = list(value.uses())
        has_notes = bool(
            tensor.doc_string
            or value.doc_string
            or value.metadata_props
            or notes_of(value).get(QUANTIZATION_KEY)
        )
        said = None if has_notes or not uses else literal(tensor)
        if said is None:
            return None
        if node is not None and any(use.node.graph is not node.graph for use in uses):
            return None
        dtype = DType(int(tensor.dtype))
        if not all(self._becomes(use.node, use.idx, said[0], dtype) for use in uses):
            return None
        return Inline(said[0], said[1], node)

    def _becomes(self, node: ir.Node, position: int, value: Any, dtype: DType) -> bool:
        """True if a literal at this input becomes a tensor of this type."""
        op = self._definition(node)
        if op is None or any(each.type in _GRAPHS for each in node.attributes.values()):
            return False
        parameter = parameter_at(op.inputs, position)
        if parameter is None or any(each.startswith(("seq(", "optional(")) for each in parameter.types):
            return False
        types: list[AnyValueType | None] = []
        literals: dict[int, Any] = {position: value}
        for other, given in enumerate(node.inputs):
            known = None if other == position or given is None else self._types.type_of(given)
            if given is not None and other != position:
                constant = constant_tensor(given)
                other_said = None if constant is None else literal(constant[0])
                if other_said is not None:
                    known = None  # it may be a literal, too, and says nothing then
                    literals[other] = other_said[0]
            types.append(known)
        resolved = resolve_literals(op, types, literals)
        return resolved[position] is dtype


_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
