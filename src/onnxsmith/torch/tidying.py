"""Leaves out of a graph what nothing reads: nodes, and the initializers that only those used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import NodeRecord, ValueRecord


def tidy(program: Program, scope: GraphTarget, outputs: Sequence[Any]) -> None:
    """Drop from the outermost graph what its outputs do not hang on."""
    live = remove_unused(scope.nodes, [each.record for each in outputs])
    program.initializers[:] = [each for each in program.initializers if each in live]


def remove_unused(nodes: list[NodeRecord], outputs: Iterable[ValueRecord]) -> set[ValueRecord]:
    """Drop nodes whose results nothing reads; the values that are read are returned."""
    live = set(outputs)
    kept: list[NodeRecord] = []
    for node in reversed(nodes):
        if any(each in live for each in node.outputs):
            kept.append(node)
            live.update(_read_values(node))
    nodes[:] = reversed(kept)
    return live


def _read_values(node: NodeRecord) -> Iterator[ValueRecord]:
    """The values that a node reads, in its subgraphs too; what is made in those is among them."""
    yield from (each for each in node.inputs if each is not None)
    for graph in node.graphs():
        yield from graph.outputs
        for inner in graph.nodes:
            yield from _read_values(inner)
