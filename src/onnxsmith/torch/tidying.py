"""Leaves out of a graph what nothing reads: nodes, and the initializers that only those used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import onnx_ir as ir

from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.program import Program


def tidy(program: Program, scope: GraphTarget, outputs: Sequence[Any]) -> None:
    """Drop from the outermost graph what its outputs do not hang on."""
    live = remove_unused(scope.nodes, [each.ir_value for each in outputs])
    program.initializers[:] = [each for each in program.initializers if each in live]


def remove_unused(nodes: list[ir.Node], outputs: Iterable[ir.Value]) -> set[ir.Value]:
    """Drop nodes whose results nothing reads; the values that are read are returned."""
    live = set(outputs)
    kept: list[ir.Node] = []
    for node in reversed(nodes):
        if not any(each in live for each in node.outputs):
            for position in range(len(node.inputs)):
                node.replace_input_with(position, None)
            continue
        kept.append(node)
        live.update(read_values(node))
    nodes[:] = reversed(kept)
    return live


def read_values(node: ir.Node) -> Iterator[ir.Value]:
    """The values that a node reads, in its subgraphs too; what is made in those is among them."""
    yield from (each for each in node.inputs if each is not None)
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        graphs: Sequence[ir.Graph] = ()
        if attribute.type == ir.AttributeType.GRAPH:
            graphs = (attribute.as_graph(),)
        elif attribute.type == ir.AttributeType.GRAPHS:
            graphs = attribute.as_graphs()
        for graph in graphs:
            yield from graph.outputs
            for inner in graph:
                yield from read_values(inner)
