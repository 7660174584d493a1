"""How much memory the values inside a graph take at the most, run node by node in the order of the file."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.costs import bytes_of, peak_bytes, unknown_size
from onnxsmith.inspection.node import Graph, Node, NodeValue


def peak_activation_bytes(graph: Graph) -> int | str:
    """The most bytes that inputs and results take at one time; where a size is not known, which, in words.

    A value is there from its node on, to the last node that takes it. Values inside bodies are not counted.
    """
    sizes: dict[ir.Value, int] = {}
    values = (*graph.inputs, *(each for node in graph.nodes for each in node.outputs))
    for value in values:
        if value.is_weight or not value.name:
            continue
        size = bytes_of(value.type)
        if size is None:
            return unknown_size(value.name, value.type)
        sizes[value.ir] = size
    order = {node.ir: number for number, node in enumerate(graph.nodes)}
    last_use = {each.ir: _last_use(each, order) for each in values if each.ir in sizes}
    return peak_bytes(graph.ir.inputs, [node.outputs for node in graph.ir], last_use, sizes)


def _last_use(value: NodeValue, order: dict[ir.Node, int]) -> int:
    if value.ir.is_graph_output():
        return len(order)
    made_by = value.ir.producer()
    last = -1 if made_by is None else order[made_by]
    for user in value.users:
        node: Node | None = user
        while node is not None and node.ir not in order:  # a body of one of ours takes it
            node = node.graph.owner
        last = len(order) if node is None else max(last, order[node.ir])
    return last
