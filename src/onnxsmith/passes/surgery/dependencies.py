"""Dependencies in a graph: the nodes and values that a value needs. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import values_read


@dataclass(slots=True)
class Needed:
    """The nodes and values that some values of a graph are made from."""

    nodes: set[ir.Node] = field(default_factory=set[ir.Node])
    #: The values that no node of the graph makes, or that the search was to stop at, with the node that reads each;
    #: None where it is itself asked for.
    ends: dict[ir.Value, ir.Node | None] = field(default_factory=dict[ir.Value, ir.Node | None])


def needed_for(values: Iterable[ir.Value], stops: Collection[ir.Value] = ()) -> Needed:
    """The nodes and values that values of a graph are made from, back to `stops`, inputs and initializers."""
    found = Needed()
    waiting: list[tuple[ir.Value, ir.Node | None]] = [(value, None) for value in values]
    waiting.reverse()
    while waiting:
        value, reader = waiting.pop()
        node = None if value in stops else value.producer()
        if node is None:
            found.ends.setdefault(value, reader)
        elif node not in found.nodes:
            found.nodes.add(node)
            waiting += [(each, node) for each in values_read(node)]
    return found


def made_from(graph: ir.Graph, sources: Collection[ir.Value], nodes: Collection[ir.Node]) -> set[ir.Value]:
    """The sources, and what these nodes of the graph make of them."""
    found = set(sources)
    for node in graph:
        if node in nodes and any(each in found for each in values_read(node)):
            found.update(node.outputs)
    return found
