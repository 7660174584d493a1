"""Isomorphic segments as one local function, and a call of it in the place of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import onnx_ir as ir

from onnxsmith.decompiling.grouping_structure import (
    Segment,
    Wiring,
    attribute_key,
    constant_attribute,
    inner_graphs,
)
from onnxsmith.decompiling.identifiers import Identifiers, readable
from onnxsmith.graphs.module_scopes import Scope, parts_of_name
from onnxsmith.graphs.names import snake_case

#: Shapes, axes and the like: initializers of so few integers belong to the structure, not to the weights.
_FEW = 16
_BIASED = frozenset({"Add", "Sub"})
#: Names that exporters count up.
_SAYS_NOTHING = frozenset({"", "val", "value", "tensor", "output", "node", "onnx", "t", "v", "x", "y"})


@dataclass(slots=True)
class _Leaf:
    """Something from outside: the value that each repetition has for it, and where it is used."""

    values: tuple[ir.Value, ...]
    node: ir.Node
    scope: Scope
    #: The node's place in the canonical order, and the position among what it uses.
    place: int
    position: int
    inside: ir.Value = field(default_factory=ir.Value)


class Repetition:
    """A group of isomorphic segments of a graph."""

    def __init__(self, wiring: Wiring, members: Sequence[Segment], scopes: Sequence[Scope]) -> None:
        self.wiring = wiring
        self.members = sorted(members, key=lambda each: min(each.nodes))
        self._scopes = scopes
        self._own = [set(each.nodes) for each in self.members]
        first = self.members[0].nodes
        #: Places in the canonical order, in the order of the graph.
        self._places = sorted(range(len(first)), key=lambda place: first[place])
        self._leaves = self._find_leaves()
        #: Place and output index of what is wanted outside, by any of the repetitions.
        self._results = [
            (place, index)
            for place in self._places
            for index in range(len(wiring.nodes[first[place]].outputs))
            if any(self._is_wanted(each, place, index) for each in range(len(self.members)))
        ]
        self._constants = [leaf for leaf in self._leaves.values() if constant_of(leaf.values) is not None]
        arguments = [leaf for leaf in self._leaves.values() if constant_of(leaf.values) is None]
        self._arguments = sorted(arguments, key=_is_weight)

    def _is_wanted(self, member: int, place: int, index: int) -> bool:
        node = self.wiring.nodes[self.members[member].nodes[place]]
        return self.wiring.is_used_outside(node.outputs[index], self._own[member])

    def _find_leaves(self) -> dict[tuple[int, ...], _Leaf]:
        """What comes from outside, under the values of all repetitions: one input where all have one value for it."""
        found: dict[tuple[int, ...], _Leaf] = {}
        first = self.members[0].nodes
        for place in self._places:
            for position, value in enumerate(self.wiring.uses[first[place]]):
                if value is None or self.wiring.source(value) in self._own[0]:
                    continue
                values = tuple(self.wiring.uses[each.nodes[place]][position] for each in self.members)
                known = cast("tuple[ir.Value, ...]", values)  # a missing input is missing in all
                node = self.wiring.nodes[first[place]]
                scope = self._scopes[first[place]][len(self.members[0].scope) :]
                found.setdefault(_identity(known), _Leaf(known, node, scope, place, position))
        return found

    # -- the function ----------------------------------------------------------------------------------

    def function(self, domain: str, name: str, imports: Mapping[str, int]) -> ir.Function:
        """The repeated nodes, generic in all that differs."""
        names = Identifiers()
        for leaf in self._arguments:
            leaf.inside = ir.Value(name=names.unique(self._argument_name(leaf)))
        body: list[ir.Node] = []
        made: dict[ir.Value, ir.Value] = {}
        waiting = {leaf.place: list[_Leaf]() for leaf in self._constants}
        for leaf in self._constants:
            waiting[leaf.place].append(leaf)
        for place in self._places:
            body += [_constant_node(leaf, names) for leaf in waiting.get(place, ())]
            body.append(self._generic(place, made, names))
        first = self.members[0].nodes
        outputs = [made[self.wiring.nodes[first[place]].outputs[index]] for place, index in self._results]
        graph = ir.Graph(
            [leaf.inside for leaf in self._arguments],
            outputs,
            nodes=body,
            opset_imports=_used_imports(body, imports),
            name=name,
        )
        for node in body:
            node.name = f"node_{next(value.name for value in node.outputs if value.name)}"
        return ir.Function(domain, name, graph=graph, attributes=())

    def _generic(self, place: int, made: dict[ir.Value, ir.Value], names: Identifiers) -> ir.Node:
        """The node at a place as it is in all repetitions."""
        nodes = [self.wiring.nodes[each.nodes[place]] for each in self.members]
        first = self.members[0].nodes[place]
        used = iter(self._inside(place, made))
        result = _Copy(used, names).node(nodes[0], made)
        result.metadata_props.update(_shared([each.metadata_props for each in nodes]))
        if any(each.doc_string != nodes[0].doc_string for each in nodes):
            result.doc_string = None
        scope = self._scopes[first][len(self.members[0].scope) :]
        for index, value in enumerate(result.outputs):
            given = [each.outputs[index].name or "" for each in nodes]
            value.name = names.unique(_value_name(given, scope, nodes[0].op_type)) if given[0] else ""
        return result

    def _inside(self, place: int, made: Mapping[ir.Value, ir.Value]) -> Iterator[ir.Value | None]:
        columns = zip(*(self.wiring.uses[each.nodes[place]] for each in self.members), strict=True)
        for values in columns:
            if values[0] is None:
                yield None
            elif values[0] in made:
                yield made[values[0]]
            else:
                yield self._leaves[_identity(cast("tuple[ir.Value, ...]", values))].inside

    def _argument_name(self, leaf: _Leaf) -> str:
        value = leaf.values[0]
        is_shared = all(each is value for each in leaf.values)
        if not _is_weight(leaf):
            return readable(value.name or "", "x") if is_shared else "x"
        scope = self.members[0].scope
        parts = parts_of_name(value.name or "")
        if is_shared and parts[: len(scope)] != scope:
            return readable(value.name or "", "weight")
        if scope and parts[: len(scope)] == scope:
            return _snake(parts[len(scope) :][-3:])
        is_matrix = value.shape is not None and len(value.shape) > 1
        is_bias = leaf.node.op_type in _BIASED or (leaf.position == 2 and not is_matrix)
        return _snake((*leaf.scope[-2:], "bias" if is_bias and not is_matrix else "weight"))

    # -- the calls -------------------------------------------------------------------------------------

    def replace(self, graph: ir.Graph, function: ir.Function, replaced: dict[ir.Value, ir.Value]) -> None:
        """Put calls of the function in the place of the repetitions."""
        for number, member in enumerate(self.members):
            nodes = [self.wiring.nodes[k] for k in sorted(member.nodes)]
            inputs = [leaf.values[number] for leaf in self._arguments]
            call = ir.Node(
                function.domain,
                function.name,
                [replaced.get(each, each) for each in inputs],
                num_outputs=len(self._results),
                name=".".join(member.scope),
                metadata_props=_shared([each.metadata_props for each in nodes]),
            )
            graph.insert_after(nodes[-1], call)
            for (place, index), new in zip(self._results, call.outputs, strict=True):
                old = self.wiring.nodes[member.nodes[place]].outputs[index]
                _take_over(old, new)
                replaced[old] = new
            _detach(nodes)
            graph.remove(nodes, safe=True)

    def forget_constants(self, graph: ir.Graph) -> None:
        """Remove the constants that only the repetitions used: the function has them now."""
        for value in {value: None for leaf in self._constants for value in leaf.values}:
            producer = value.producer()
            if value.uses() or value.is_graph_output():
                continue
            if producer is None:
                graph.initializers.pop(value.name or "", None)
            elif producer.graph is graph:
                graph.remove(producer, safe=True)


class _Copy:
    """Copies a node; what it uses from outside, in graphs inside it too, is handed in, use by use."""

    def __init__(self, used: Iterator[ir.Value | None], names: Identifiers) -> None:
        self._used = used
        self._names = names

    def node(self, node: ir.Node, made: dict[ir.Value, ir.Value]) -> ir.Node:
        inputs = [next(self._used) for _ in node.inputs]
        result = self._with_inputs(node, inputs, {})
        made.update(zip(node.outputs, result.outputs, strict=True))
        result.metadata_props.clear()
        return result

    def _with_inputs(
        self, node: ir.Node, inputs: Sequence[ir.Value | None], own: dict[ir.Value, ir.Value]
    ) -> ir.Node:
        graphs = {id(graph): self._graph(graph, own) for graph in inner_graphs(node)}
        attributes: list[ir.Attr] = []
        for name, attribute in node.attributes.items():
            value = attribute.value
            if attribute.type == ir.AttributeType.GRAPH:
                attributes.append(ir.Attr(name, attribute.type, graphs[id(value)]))
            elif attribute.type == ir.AttributeType.GRAPHS:
                attributes.append(ir.Attr(name, attribute.type, [graphs[id(each)] for each in value]))
            else:
                attributes.append(attribute)
        return ir.Node(
            node.domain,
            node.op_type,
            inputs,
            attributes,
            overload=node.overload,
            num_outputs=len(node.outputs),
            doc_string=node.doc_string,
            metadata_props=dict(node.metadata_props),
        )

    def _graph(self, graph: ir.Graph, own: dict[ir.Value, ir.Value]) -> ir.Graph:
        inputs = [self._value(value, "input", own) for value in graph.inputs]
        weights = [self._value(value, "weight", own) for value in graph.initializers.values()]
        nodes: list[ir.Node] = []
        for node in graph:
            given = [
                None if value is None else own[value] if value in own else next(self._used)
                for value in node.inputs
            ]
            copy = self._with_inputs(node, given, own)
            for old, new in zip(node.outputs, copy.outputs, strict=True):
                own[old] = new
                if old.is_graph_output():  # others may differ from layer to layer
                    new.type, new.shape = old.type, old.shape
                new.name = self._names.unique(_value_name([old.name], (), node.op_type)) if old.name else ""
            nodes.append(copy)
        outputs = [own[value] for value in graph.outputs]
        return ir.Graph(
            inputs, outputs, nodes=nodes, initializers=weights, name=graph.name, doc_string=graph.doc_string
        )

    def _value(self, value: ir.Value, kind: str, own: dict[ir.Value, ir.Value]) -> ir.Value:
        if value not in own:
            own[value] = ir.Value(
                name=self._names.unique(_value_name([value.name or ""], (), kind)),
                type=value.type,
                shape=value.shape,
                const_value=value.const_value,
            )
        return own[value]


def constant_of(values: Sequence[ir.Value]) -> ir.Attr | None:
    """The constant that all values are, if they are equal and small; None for weights and what is computed."""
    first = _constant(values[0])
    if first is None:
        return None
    key = (first.name, attribute_key(first))
    for value in values[1:]:
        other = None if value is values[0] else _constant(value)
        if value is not values[0] and (other is None or (other.name, attribute_key(other)) != key):
            return None
    return first


def _constant(value: ir.Value) -> ir.Attr | None:
    producer = value.producer()
    if producer is not None:
        return constant_attribute(producer)
    tensor = value.const_value
    if tensor is None or value.is_graph_input():
        return None
    is_whole = tensor.dtype.is_integer() or tensor.dtype == ir.DataType.BOOL
    if len(tensor.shape) == 0 or (is_whole and len(tensor.shape) == 1 and tensor.size <= _FEW):
        return ir.Attr("value", ir.AttributeType.TENSOR, tensor)
    return None


def _is_weight(leaf: _Leaf) -> bool:
    """Whether it is a weight in any repetition: an initializer, a constant, or what passes one on."""
    return any(_is_fixed(value) for value in leaf.values)


def _is_fixed(value: ir.Value) -> bool:
    producer = value.producer()
    if producer is None:
        return value.const_value is not None
    if producer.op_type == "Identity" and producer.inputs and producer.inputs[0] is not None:
        return producer.inputs[0].producer() is None and producer.inputs[0].const_value is not None
    return constant_attribute(producer) is not None


def _identity(values: Sequence[ir.Value]) -> tuple[int, ...]:
    return tuple(map(id, values))


def _take_over(old: ir.Value, new: ir.Value) -> None:
    """Give a value's place in the graph, its name and its type to another."""
    new.name, new.type, new.shape = old.name, old.type, old.shape
    new.doc_string = old.doc_string
    new.metadata_props.update(old.metadata_props)
    old.replace_all_uses_with(new, replace_graph_outputs=True)


def _shared(tables: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all tables say."""
    return {key: text for key, text in tables[0].items() if all(each.get(key) == text for each in tables)}


def _used_imports(nodes: Sequence[ir.Node], imports: Mapping[str, int]) -> dict[str, int]:
    used: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        used.add(_plain(node.domain))
        waiting += [inner for graph in inner_graphs(node) for inner in graph]
    return {domain: version for domain, version in imports.items() if _plain(domain) in used}


def _plain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _value_name(given: Sequence[str | None], scope: Scope, operator: str) -> str:
    """A variable for what a node makes: the word that all repetitions have for it, or else module and operator."""
    stems = {re.sub(r"(?:_?[0-9]+)+$", "", each or "") for each in given}
    stem = stems.pop() if len(stems) == 1 else ""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{2,30}", stem) and stem.lower() not in _SAYS_NOTHING:
        return _snake((stem,))
    words = [part for part in scope if not part.isdigit()]
    return _snake((*words[-1:], operator))


def _snake(parts: Sequence[str]) -> str:
    words = [snake_case(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_")) for part in parts]
    text = "_".join(word for word in words if word).lstrip("0123456789_")
    return text or "value"


def _constant_node(leaf: _Leaf, names: Identifiers) -> ir.Node:
    """A constant of the function, for a value that is the same in all repetitions."""
    attribute = constant_of(leaf.values)
    assert attribute is not None
    node = ir.Node("", "Constant", [], [attribute], num_outputs=1)
    leaf.inside = node.outputs[0]
    leaf.inside.name = names.unique("constant")
    return node


def _detach(nodes: Sequence[ir.Node]) -> None:
    """Let what is inside nodes use nothing any more: removing them does not see to that."""
    waiting = [inner for node in nodes for graph in inner_graphs(node) for inner in graph]
    while waiting:
        node = waiting.pop()
        waiting += [inner for graph in inner_graphs(node) for inner in graph]
        for position in range(len(node.inputs)):
            node.replace_input_with(position, None)
