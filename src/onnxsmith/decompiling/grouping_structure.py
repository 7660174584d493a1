"""What a graph is made of, apart from names: equal keys mean isomorphic segments.

A key holds all of the structure and not a digest of it, so that segments with equal keys need no further proof. What
repetitions may differ in is left out: weights, constants, values from outside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import onnx_ir as ir

from onnxsmith.decompiling.order import graphs_of

#: Tensors beyond this many bytes are compared by identity: they are weights, and are not read.
_SMALL = 4096
_FEW_STRINGS = 64
_LEAF = -1
_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


@dataclass(frozen=True, slots=True)
class Segment:
    """Some nodes of a graph, by their positions in its wiring, in an order that only structure decides."""

    #: In canonical order: nodes at equal places of isomorphic segments correspond.
    nodes: tuple[int, ...]
    key: Hashable
    #: The module that the names put them in; empty where names said nothing.
    scope: tuple[str, ...] = ()


class Wiring:
    """The nodes of a graph with what they use; constants are not nodes here, but values from outside."""

    def __init__(self, graph: ir.Graph) -> None:
        self.nodes = [node for node in graph if constant_attribute(node) is None]
        self.place = {node: k for k, node in enumerate(self.nodes)}
        #: For each node the values it uses, those that graphs inside it take from outside among them.
        self.uses = [list(used_values(node)) for node in self.nodes]
        self.users: defaultdict[ir.Value, list[int]] = defaultdict(list)
        for k, values in enumerate(self.uses):
            for value in values:
                if value is not None:
                    self.users[value].append(k)
        self.graph_outputs = set(graph.outputs)
        numbers: dict[Hashable, int] = {}
        labels = [_node_label(node, {}) for node in self.nodes]
        pinned = {value for node in self.nodes for value in _passed_through(node)}
        for k, node in enumerate(self.nodes):
            if _stays(node) or not pinned.isdisjoint((*node.outputs, *_passed_through(node))):
                labels[k] = ("alone", k)
        #: Equal for nodes that compute the same of what they are given.
        self.labels = [numbers.setdefault(label, len(numbers)) for label in labels]

    def source(self, value: ir.Value | None) -> int | None:
        """The position of the node that makes a value; None for what comes from outside, constants included."""
        producer = None if value is None else value.producer()
        return None if producer is None else self.place.get(producer)

    def segment(self, nodes: Sequence[int], scope: tuple[str, ...] = ()) -> Segment:
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
                    entry.append(_LEAF)
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
        """Whether a value of a segment is wanted beyond it."""
        return value in self.graph_outputs or any(k not in own for k in self.users.get(value, ()))


def constant_attribute(node: ir.Node) -> ir.Attr | None:
    """What a Constant node says."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attributes) != 1:
        return None
    attribute = next(iter(node.attributes.values()))
    return None if attribute.is_ref() or getattr(node, "device_configurations", None) else attribute


def used_values(node: ir.Node) -> Iterator[ir.Value | None]:
    """What a node uses: its inputs, then what graphs inside it take from outside, each as often as it is used."""
    yield from node.inputs
    own: set[ir.Value] = set()
    for graph in inner_graphs(node):
        yield from _captured(graph, own)


def _captured(graph: ir.Graph, own: set[ir.Value]) -> Iterator[ir.Value]:
    own.update(graph.inputs)
    own.update(graph.initializers.values())
    for node in graph:
        for value in node.inputs:
            if value is not None and value not in own:
                yield value
        for inner in inner_graphs(node):
            yield from _captured(inner, own)
        own.update(node.outputs)


def inner_graphs(node: ir.Node) -> list[ir.Graph]:
    """The graphs inside a node, in the order of the attributes' names."""
    found: list[ir.Graph] = []
    for name in sorted(node.attributes):
        attribute = node.attributes[name]
        if attribute.is_ref() or attribute.type not in _GRAPHS:
            continue
        value = cast("ir.Graph | Sequence[ir.Graph]", attribute.value)
        found += [value] if isinstance(value, ir.Graph) else value
    return found


def _passed_through(node: ir.Node) -> Iterator[ir.Value]:
    """Values from outside that a graph inside a node has as outputs, as they are."""
    waiting = graphs_of(node)
    while waiting:
        graph = waiting.pop()
        made = {*graph.inputs, *graph.initializers.values(), *(v for each in graph for v in each.outputs)}
        yield from (value for value in graph.outputs if value not in made)
        waiting += [inner for each in graph for inner in graphs_of(each)]


def _stays(node: ir.Node) -> bool:
    """Whether a node cannot move into a function."""
    return bool(getattr(node, "device_configurations", None)) or any(
        each.is_ref() for each in node.attributes.values()
    )


def _node_label(node: ir.Node, inner: dict[ir.Value, int]) -> Hashable:
    domain = "" if node.domain == "ai.onnx" else node.domain
    names = sorted(node.attributes)
    return (
        (domain, node.op_type, node.overload, len(node.outputs)),
        tuple(value is None for value in node.inputs),
        tuple(bool(value.name) for value in node.outputs),
        tuple((name, attribute_key(node.attributes[name], inner)) for name in names),
    )


def attribute_key(attribute: ir.Attr, inner: dict[ir.Value, int] | None = None) -> Hashable:
    """Equal for attributes with equal values, to the bit."""
    if attribute.is_ref():
        return ("reference", attribute.ref_attr_name, int(attribute.type))
    kind, value = attribute.type, attribute.value
    numbers = {} if inner is None else inner
    match kind:
        case ir.AttributeType.INT | ir.AttributeType.STRING:
            said: Hashable = value
        case ir.AttributeType.INTS | ir.AttributeType.STRINGS:
            said = tuple(value)
        case ir.AttributeType.FLOAT | ir.AttributeType.FLOATS:
            said = repr(value)  # tells -0.0 from 0.0, and nan from nothing
        case ir.AttributeType.TENSOR:
            said = tensor_key(value)
        case ir.AttributeType.TENSORS:
            said = tuple(tensor_key(each) for each in value)
        case ir.AttributeType.GRAPH:
            said = _graph_label(value, numbers)
        case ir.AttributeType.GRAPHS:
            said = tuple(_graph_label(each, numbers) for each in value)
        case _:
            said = id(value)
    return (int(kind), said)


def tensor_key(tensor: ir.TensorProtocol) -> Hashable:
    """Equal for small tensors with equal elements; a large one equals only itself."""
    shape = tuple(str(each) for each in tensor.shape)
    if tensor.dtype == ir.DataType.STRING:
        is_small = tensor.size <= _FEW_STRINGS
        return (
            ("strings", shape, tuple(cast("list[bytes]", tensor.numpy().ravel().tolist())))
            if is_small
            else id(tensor)
        )
    if tensor.nbytes > _SMALL:
        return ("large", id(tensor))
    return (int(tensor.dtype), shape, tensor.tobytes())


def _graph_label(graph: ir.Graph, numbers: dict[ir.Value, int]) -> Hashable:
    """A graph inside a node; a value that it takes from outside only says that there is one."""

    def declared(value: ir.Value) -> Hashable:
        numbers[value] = len(numbers)
        return (repr(value.type), repr(value.shape))

    inputs = tuple(declared(value) for value in graph.inputs)
    weights = tuple(
        (declared(value), None if value.const_value is None else tensor_key(value.const_value))
        for value in graph.initializers.values()
    )
    nodes: list[Hashable] = []
    for node in graph:
        refs = tuple(_LEAF if value is None else numbers.get(value, _LEAF) for value in node.inputs)
        stays = id(node) if _stays(node) else None
        nodes.append((_node_label(node, numbers), refs, stays))
        for value in node.outputs:
            numbers[value] = len(numbers)
    outputs = tuple(
        (numbers.get(value, _LEAF), repr(value.type), repr(value.shape)) for value in graph.outputs
    )
    return (inputs, weights, tuple(nodes), outputs)
