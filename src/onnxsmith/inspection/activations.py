"""How much memory the values inside a graph take at the most, run node by node in the order of the file."""

from __future__ import annotations

import math

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.inspection.node import Graph, Node, NodeValue
from onnxsmith.types.value_types import TensorType

_LONGEST_NAME = 60


def peak_activation_bytes(graph: Graph) -> int | str:
    """The most bytes that inputs and results take at one time; where a size is not known, which, in words.

    A value is there from its node on, to the last node that takes it. Values inside bodies are not counted.
    """
    sizes: dict[ir.Value, int] = {}
    for value in (*graph.inputs, *(each for node in graph.nodes for each in node.outputs)):
        if value.is_weight or not value.name:
            continue
        size = _bytes(value)
        if size is None:
            return printable(f"{clipped(value.name, _LONGEST_NAME)!r} is {value.type!r}")
        sizes[value.ir] = size
    order = {node.ir: number for number, node in enumerate(graph.nodes)}
    values = (*graph.inputs, *(each for node in graph.nodes for each in node.outputs))
    last_use = {each.ir: _last_use(each, order) for each in values if each.ir in sizes}
    ending: dict[int, list[ir.Value]] = {}
    for value, number in last_use.items():
        ending.setdefault(number, []).append(value)
    now = sum(sizes.get(each.ir, 0) for each in graph.inputs)
    peak = now
    for number, node in enumerate(graph.ir):
        now += sum(sizes.get(value, 0) for value in node.outputs)
        peak = max(peak, now)
        now -= sum(sizes[value] for value in ending.get(number, ()))
    return peak


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


def _bytes(value: NodeValue) -> int | None:
    kind = value.type
    if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None or not kind.dtype.bits:
        return None
    sizes = [each for each in kind.shape if isinstance(each, int)]
    return -(-math.prod(sizes) * kind.dtype.bits // 8) if len(sizes) == len(kind.shape) else None
