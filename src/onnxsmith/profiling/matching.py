"""Matches kernel events to nodes of the graph that ONNX Runtime ran.

A graph's kernels run in the order in which its nodes are written, so that they are paired by place; names decide where
that fails. Nodes are known by their address in the optimised graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import onnx

from onnxsmith.profiling.events import KernelEvent


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A kernel that ran, and the node that it ran for."""

    event: KernelEvent
    #: Where the node stands in the optimised graph; the event's own name where none was found.
    address: str
    node: onnx.NodeProto | None
    depth: int


def occurrences(kernels: Sequence[KernelEvent], graph: onnx.GraphProto) -> Iterator[Occurrence]:
    """All kernels of a run with their nodes, those inside control flow behind the node that they ran for."""
    waiting: list[tuple[Sequence[KernelEvent], onnx.GraphProto | None, str, int]] = [(kernels, graph, "", 0)]
    while waiting:
        run, inside, prefix, depth = waiting.pop()
        nodes = () if inside is None else inside.node
        for event, place in zip(run, _places(run, nodes), strict=True):
            node = None if place is None else nodes[place]
            address = f"{prefix}{event.name}" if place is None else f"{prefix}{place}"
            yield Occurrence(event, address, node, depth)
            for execution in event.executions:
                name, body = _body(execution, node)
                waiting.append((execution, body, f"{address}.{name}.", depth + 1))


def _places(kernels: Sequence[KernelEvent], nodes: Sequence[onnx.NodeProto]) -> list[int | None]:
    """For each kernel the place of its node."""
    if len(kernels) == len(nodes) and all(_fits(*each) for each in zip(kernels, nodes, strict=True)):
        return list(range(len(nodes)))
    by_name = {node.name: place for place, node in enumerate(nodes) if node.name}
    found = [by_name.get(each.name) for each in kernels]
    # Nodes without a name, in order.
    taken = set(found)
    rest: dict[str, list[int]] = {}
    for place in reversed(range(len(nodes))):
        if place not in taken:
            rest.setdefault(nodes[place].op_type, []).append(place)
    return [
        rest[kernel.operator].pop() if place is None and rest.get(kernel.operator) else place
        for kernel, place in zip(kernels, found, strict=True)
    ]


def _fits(kernel: KernelEvent, node: onnx.NodeProto) -> bool:
    return kernel.operator == node.op_type and (not node.name or kernel.name == node.name)


def _body(kernels: Sequence[KernelEvent], node: onnx.NodeProto | None) -> tuple[str, onnx.GraphProto | None]:
    """The body of a node that has run, by the kernels that it has, with its name."""
    bodies = list(_bodies(node.attribute)) if node is not None else []
    best = max(bodies, key=lambda each: _likeness(kernels, each[1].node), default=None)
    return ("body", None) if best is None else best


def _bodies(attributes: Iterable[onnx.AttributeProto]) -> Iterator[tuple[str, onnx.GraphProto]]:
    for attribute in attributes:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", graph


def _likeness(kernels: Sequence[KernelEvent], nodes: Sequence[onnx.NodeProto]) -> tuple[int, int]:
    same = sum(_fits(*each) for each in zip(kernels, nodes, strict=False))
    return same, -abs(len(kernels) - len(nodes))
