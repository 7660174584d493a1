"""A finished subgraph: what a control-flow operator gets as its body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.core.recording import RecordedBody
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType


@dataclass(frozen=True, slots=True)
class Body(RecordedBody):
    """A graph attribute's graph, and what is known of its outputs."""

    graph: ir.Graph
    outputs: tuple[Known, ...]

    def add_unused_input(self, kind: AnyValueType) -> None:
        """Add an input at the end that no node reads."""
        value = ir.Value(name=f"{self.graph.name}_unused_{len(self.graph.inputs) - 1}")
        value.type, value.shape = type_to_ir(kind)
        self.graph.inputs.append(value)

    def discard(self) -> None:
        """Let its nodes use nothing any more: the graph is thrown away."""
        disconnect_all(self.graph)


def disconnect_all(nodes: Iterable[ir.Node]) -> None:
    """Let nodes that are thrown away use nothing any more, those in their own bodies included."""
    for node in reversed(list(nodes)):
        for position in range(len(node.inputs)):
            node.replace_input_with(position, None)
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
                disconnect_all(attribute.as_graph())


def declare_outputs(
    graph: ir.Graph, known: Sequence[Known], types: Sequence[AnyValueType | None]
) -> tuple[Known, ...]:
    """Let the outputs of an exact body have the types that it declares, and no others; give what is known of them."""
    for value, kind in zip(graph.outputs, types, strict=True):
        if kind is not None:
            value.type, value.shape = type_to_ir(kind)
        elif value.producer() is not None and value.graph is graph:
            value.type = value.shape = None
    return tuple(
        Known(kind) if kind is not None and each.type == UNKNOWN_TENSOR else each
        for kind, each in zip(types, known, strict=True)
    )
