"""The nodes of a graph with what they use, by their positions, and segments of it: equal keys mean isomorphic segments.

What repetitions may differ in is left out of a key: weights, constants, values from outside. Changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import onnx_ir as ir

from onnxsmith.graphs.identity import OUTSIDE
from onnxsmith.graphs.rewriting.scopes import bodies_of, has_graphs, inner_nodes
from onnxsmith.passes.outlining.labels import Labels
from onnxsmith.passes.outlining.part import Scope
from onnxsmith.passes.values import has_references


@dataclass(frozen=True, slots=True)
class Segment:
    """Some nodes of a graph, by their positions in its wiring, in an order that only structure decides."""

    #: In canonical order: nodes at equal places of isomorphic segments correspond.
    nodes: tuple[int, ...]
    key: Hashable
    #: The module that the names put them in; empty where names said nothing.
    scope: Scope = ()


class Wiring:
    """The nodes of a graph with what they use; constants are not nodes here, but values from outside."""

    def __init__(self, graph: ir.Graph, labels: Labels | None = None) -> None:
        """The nodes stand after what they use. `labels` has those that are known already."""
        known = Labels() if labels is None else labels
        self.nodes = [node for node in graph if constant_attribute(node) is None]
        self.place = {node: k for k, node in enumerate(self.nodes)}
        special = [k for k, node in enumerate(self.nodes) if not known.is_plain(node)]
        #: For each node the values it uses, those that graphs inside it take from outside among them.
        self.uses: list[Sequence[ir.Value | None]] = [node.inputs for node in self.nodes]
        #: Values that graphs inside nodes give as they are, under the nodes.
        self._passed: dict[int, list[ir.Value]] = {}
        #: Nodes that cannot move into a function.
        self.tied: set[int] = set()
        for k in special:
            self.uses[k] = list(used_values(self.nodes[k]))
            given = list(_passed_through(self.nodes[k]))
            if given:
                self._passed[k] = given
                makers = map(self.source, given)
                self.tied.update([k, *(each for each in makers if each is not None)])
            elif is_tied(self.nodes[k]):
                self.tied.add(k)
        self.users: defaultdict[ir.Value, list[int]] = defaultdict(list)
        for k, values in enumerate(self.uses):
            for value in values:
                if value is not None:
                    self.users[value].append(k)
        self.graph_outputs = set(graph.outputs)
        #: Equal for nodes that compute the same of what they are given.
        self.labels = [
            known.alone(node) if k in self.tied else known.of(node) for k, node in enumerate(self.nodes)
        ]

    def source(self, value: ir.Value | None) -> int | None:
        """The position of the node that makes a value; None for what comes from outside, constants included."""
        producer = None if value is None else value.producer()
        return None if producer is None else self.place.get(producer)

    def sources(self, k: int) -> Iterator[int]:
        """The nodes that a node needs, in graphs inside it too; each as often as it is used."""
        for value in self.uses[k] if k not in self._passed else (*self.uses[k], *self._passed[k]):
            source = self.source(value)
            if source is not None:
                yield source

    def segment(self, nodes: Sequence[int], scope: Scope = ()) -> Segment:
        """Nodes, given in the order of the graph, as a segment."""
        own = set(nodes)
        order = self._canonical_order(nodes, own)
        number = {k: place for place, k in enumerate(order)}
        key: list[tuple[int, ...]] = []
        for k in order:
            entry = [self.labels[k]]
            for value in self.uses[k]:
                source = self.source(value)
                if value is not None and source in own:
                    entry += (number[source], cast(int, value.index()))
                else:
                    entry.append(OUTSIDE)
            key.append(tuple(entry))
        return Segment(tuple(order), tuple(key), scope)

    def _canonical_order(self, nodes: Sequence[int], own: set[int]) -> list[int]:
        """Backwards from the nodes that nothing here uses, inputs by position: not the graph's own order."""
        used = {source for k in nodes for source in map(self.source, self.uses[k]) if source in own}
        order: list[int] = []
        seen: set[int] = set()
        for start in nodes:
            if start in used:
                continue
            stack = [(start, iter(self.uses[start]))]
            seen.add(start)
            while stack:
                here, rest = stack[-1]
                for value in rest:
                    source = self.source(value)
                    if source is not None and source in own and source not in seen:
                        seen.add(source)
                        stack.append((source, iter(self.uses[source])))
                        break
                else:
                    order.append(here)
                    stack.pop()
        return order

    def is_used_outside(self, value: ir.Value, own: set[int]) -> bool:
        """True if a value of a segment is wanted beyond it."""
        return value in self.graph_outputs or any(k not in own for k in self.users.get(value, ()))

    def gives_something(self, nodes: Iterable[int]) -> bool:
        """True if anything of a segment is wanted beyond it."""
        own = set(nodes)
        return any(self.is_used_outside(value, own) for k in own for value in self.nodes[k].outputs)


def constant_attribute(node: ir.Node) -> ir.Attr | None:
    """The attribute with the content of a Constant node."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attributes) != 1:
        return None
    attribute = next(iter(node.attributes.values()))
    return None if attribute.is_ref() or getattr(node, "device_configurations", None) else attribute


def used_values(node: ir.Node) -> Iterator[ir.Value | None]:
    """The values that a node uses: its inputs, then those that inner graphs take from outside, once for each use."""
    yield from node.inputs
    own: set[ir.Value] = set()
    for graph in bodies_of(node, by_name=True):
        yield from _captured(graph, own)


def _captured(graph: ir.Graph, own: set[ir.Value]) -> Iterator[ir.Value]:
    own.update(graph.inputs)
    own.update(graph.initializers.values())
    for node in graph:
        for value in node.inputs:
            if value is not None and value not in own:
                yield value
        for inner in bodies_of(node, by_name=True):
            yield from _captured(inner, own)
        own.update(node.outputs)


def is_in_order(graph: ir.Graph) -> bool:
    """True if all nodes stand after what they use."""
    own = set(graph)
    made: set[ir.Node] = set()
    for node in graph:
        used = [*used_values(node), *_passed_through(node)] if has_graphs(node) else node.inputs
        for value in used:
            producer = None if value is None else value.producer()
            if producer in own and producer not in made:
                return False
        made.add(node)
    return True


def is_tied(node: ir.Node) -> bool:
    """True if a node says something that holds in its place alone, inside it too."""
    inside = inner_nodes(node)
    return any(
        getattr(each, "device_configurations", None) or has_references(each) for each in (node, *inside)
    )


def _passed_through(node: ir.Node) -> Iterator[ir.Value]:
    """Values from outside that a graph inside a node has as outputs, as they are."""
    waiting = list(bodies_of(node))
    while waiting:
        graph = waiting.pop()
        made = {*graph.inputs, *graph.initializers.values(), *(v for each in graph for v in each.outputs)}
        yield from (value for value in graph.outputs if value not in made)
        waiting += [inner for each in graph for inner in bodies_of(each)]
