"""A finished subgraph: what a control-flow operator gets as its body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.schema.inference.known import Known


@dataclass(frozen=True, slots=True)
class Body:
    """A graph attribute's graph, and what is known of its outputs."""

    graph: ir.Graph
    outputs: tuple[Known, ...]


def disconnect_all(nodes: Iterable[ir.Node]) -> None:
    """Let nodes that are thrown away use nothing any more, those in their own bodies included."""
    for node in reversed(list(nodes)):
        for position in range(len(node.inputs)):
            node.replace_input_with(position, None)
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
                disconnect_all(attribute.as_graph())
