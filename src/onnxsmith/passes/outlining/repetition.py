"""Isomorphic segments as one function: what it is given, what it gives, and its nodes, generic in all that differs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import onnx_ir as ir

from onnxsmith.graphs.copying import Copier
from onnxsmith.graphs.identifiers import Identifiers, readable
from onnxsmith.graphs.identity import EXACT, SMALL_BYTES
from onnxsmith.graphs.module_scopes import parts_of_name
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.graphs.origins import SOURCE_KEY, SOURCES_KEY, sources_in, stored_sources
from onnxsmith.graphs.rewriting.scopes import inner_nodes, plain_domain
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.passes.outlining.part import Scope
from onnxsmith.passes.outlining.wiring import Segment, Wiring, constant_attribute

_BIASED = frozenset({"Add", "Sub"})
T = TypeVar("T")


@dataclass(slots=True)
class _Leaf:
    """Something from outside: the value that each repetition has for it, and where it is used."""

    values: tuple[ir.Value, ...]
    node: ir.Node
    scope: Scope
    #: The node's place in the canonical order, and the position among what it uses.
    place: int
    position: int
    #: What all of them are, if they are small and equal.
    constant: ir.Attr | None
    inside: ir.Value = field(default_factory=ir.Value)


class Repetition:
    """Isomorphic segments of a graph; there may be one only."""

    def __init__(
        self,
        wiring: Wiring,
        members: Sequence[Segment],
        scopes: Mapping[ir.Node, Scope],
        imports: Mapping[str, int],
    ) -> None:
        """`scopes` are those of nodes, where they are known: they give names. `imports` are the model's opsets."""
        self.wiring = wiring
        self.members = sorted(members, key=lambda each: min(each.nodes))
        self._scopes = scopes
        self._imports = imports
        self._own = [set(each.nodes) for each in self.members]
        first = self.members[0].nodes
        #: Places in the canonical order, in the order of the graph.
        self._places = sorted(range(len(first)), key=lambda place: first[place])
        self._leaves = self._find_leaves()
        #: Place and output index of what is wanted outside, by any of the repetitions.
        self.results = [
            (place, index)
            for place in self._places
            for index in range(len(wiring.nodes[first[place]].outputs))
            if any(self._is_wanted(each, place, index) for each in range(len(self.members)))
        ]
        self._constants = [leaf for leaf in self._leaves.values() if leaf.constant is not None]
        arguments = [leaf for leaf in self._leaves.values() if leaf.constant is None]
        self._arguments = sorted(arguments, key=_is_weight)

    def arguments(self, member: int) -> list[ir.Value]:
        """The arguments of the call in the place of a repetition."""
        return [leaf.values[member] for leaf in self._arguments]

    def constants(self) -> Iterator[ir.Value]:
        """The values that the function has as constants."""
        for leaf in self._constants:
            yield from leaf.values

    def _is_wanted(self, member: int, place: int, index: int) -> bool:
        node = self.wiring.nodes[self.members[member].nodes[place]]
        return self.wiring.is_used_outside(node.outputs[index], self._own[member])

    def _find_leaves(self) -> dict[tuple[int, ...], _Leaf]:
        """The values from outside, under the values of all repetitions: one input where all have one value for it."""
        found: dict[tuple[int, ...], _Leaf] = {}
        first = self.members[0].nodes
        has_constants = not self._imports.keys().isdisjoint(("", "ai.onnx"))  # they are nodes of this domain
        for place in self._places:
            for position, value in enumerate(self.wiring.uses[first[place]]):
                if value is None or self.wiring.source(value) in self._own[0]:
                    continue
                values = tuple(self.wiring.uses[each.nodes[place]][position] for each in self.members)
                known = cast("tuple[ir.Value, ...]", values)  # a missing input is missing in all
                identity = _identity(known)
                if identity not in found:
                    node = self.wiring.nodes[first[place]]
                    scope = self._inner_scope(node)
                    constant = constant_of(known) if has_constants else None
                    found[identity] = _Leaf(known, node, scope, place, position, constant)
        return found

    def _inner_scope(self, node: ir.Node) -> Scope:
        """Where a node of the first repetition stands in it."""
        return self._scopes.get(node, ())[len(self.members[0].scope) :]

    # -- the function ----------------------------------------------------------------------------------

    def function(self, domain: str, name: str) -> ir.Function:
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
        outputs = [made[self.wiring.nodes[first[place]].outputs[index]] for place, index in self.results]
        graph = ir.Graph(
            [leaf.inside for leaf in self._arguments],
            outputs,
            nodes=body,
            opset_imports=_used_imports(body, self._imports),
            name=name,
        )
        for node in body:
            node.name = f"node_{next((value.name for value in node.outputs if value.name), node.op_type)}"
        return ir.Function(domain, name, graph=graph, attributes=())

    def _generic(self, place: int, made: dict[ir.Value, ir.Value], names: Identifiers) -> ir.Node:
        """The node at a place as it is in all repetitions."""
        nodes = [self.wiring.nodes[each.nodes[place]] for each in self.members]
        used = filter(None, self._inside(place, made))
        copier = Copier(
            name=lambda name, kind: None if kind == "node" else names.unique(value_name([name], (), kind)),
            outside=lambda _: next(used),
            has_type=ir.Value.is_graph_output,  # others may differ from layer to layer
        )
        result = copier.node(nodes[0], {})
        made.update(zip(nodes[0].outputs, result.outputs, strict=True))
        result.metadata_props.clear()
        result.metadata_props.update(_merged_metadata(nodes))
        notes_of(result).update(shared([notes_of(each) for each in nodes]))
        if any(each.doc_string != nodes[0].doc_string for each in nodes):
            result.doc_string = None
        scope = self._inner_scope(nodes[0])
        for index, value in enumerate(result.outputs):
            given = [each.outputs[index].name or "" for each in nodes]
            value.name = names.unique(value_name(given, scope, nodes[0].op_type)) if given[0] else ""
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
            return snake_words(parts[len(scope) :][-3:])
        is_matrix = value.shape is not None and len(value.shape) > 1
        is_bias = leaf.node.op_type in _BIASED or (leaf.position == 2 and not is_matrix)
        return snake_words((*leaf.scope[-2:], "bias" if is_bias and not is_matrix else "weight"))


def _merged_metadata(nodes: Sequence[ir.Node]) -> dict[str, str]:
    """The metadata that all nodes share, and all places that they were written at."""
    tables = [node.metadata_props for node in nodes]
    found = shared(tables)
    sources = list(dict.fromkeys(source for table in tables for source in sources_in(table)))
    if sources:
        found.setdefault(SOURCE_KEY, sources[0])
    if len(sources) > 1:
        found[SOURCES_KEY] = stored_sources(sources)
    return found


def shared(tables: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """The entries that all tables share."""
    return {key: said for key, said in tables[0].items() if all(each.get(key) == said for each in tables[1:])}


def _is_weight(leaf: _Leaf) -> bool:
    """True if it is a weight in any repetition."""
    return any(is_fixed(value) for value in leaf.values)


def _identity(values: Sequence[ir.Value]) -> tuple[int, ...]:
    return tuple(map(id, values))


def _used_imports(nodes: Sequence[ir.Node], imports: Mapping[str, int]) -> dict[str, int]:
    used = {plain_domain(each.domain) for node in nodes for each in (node, *inner_nodes(node))}
    return {domain: version for domain, version in imports.items() if plain_domain(domain) in used}


def _constant_node(leaf: _Leaf, names: Identifiers) -> ir.Node:
    """A constant of the function, for a value that is the same in all repetitions."""
    assert leaf.constant is not None
    node = ir.Node("", "Constant", [], [leaf.constant], num_outputs=1)
    leaf.inside = node.outputs[0]
    leaf.inside.name = names.unique("constant")
    return node


# -- constants -------------------------------------------------------------------------------------------------
# Tells values that are constants of a function from weights, which every call passes.


#: Shapes, axes and the like: initializers of so few integers belong to the structure, not to the weights.
_FEW = 16


def constant_of(values: Sequence[ir.Value]) -> ir.Attr | None:
    """The constant that all values are, if they are equal and small; None for weights and what is computed."""
    first = _constant(values[0])
    if first is None:
        return None
    key = (first.name, EXACT.attribute(first))
    for value in values[1:]:
        other = None if value is values[0] else _constant(value)
        if value is not values[0] and (other is None or (other.name, EXACT.attribute(other)) != key):
            return None
    return first


def _constant(value: ir.Value) -> ir.Attr | None:
    producer = value.producer()
    if producer is not None:
        attribute = constant_attribute(producer)
        return None if attribute is None or _is_large(attribute) else attribute
    tensor = value.const_value
    if tensor is None or value.is_graph_input() or WEIGHT_KEY in notes_of(value):
        return None
    if isinstance(tensor, SparseTensor):
        return None
    is_whole = tensor.dtype.is_integer() or tensor.dtype == ir.DataType.BOOL
    if len(tensor.shape) == 0 or (is_whole and len(tensor.shape) == 1 and tensor.size <= _FEW):
        return ir.AttrTensor("value", tensor)
    return None


def _is_large(attribute: ir.Attr) -> bool:
    """True if it is a weight in the form of a node: a function has no place for one beside the file."""
    return attribute.type == ir.AttributeType.TENSOR and attribute.as_tensor().nbytes > SMALL_BYTES


def is_fixed(value: ir.Value) -> bool:
    """True if a value is a weight: an initializer, a constant, or what passes one on."""
    producer = value.producer()
    if producer is None:
        return value.const_value is not None
    if producer.op_type == "Identity" and producer.inputs and producer.inputs[0] is not None:
        return producer.inputs[0].producer() is None and producer.inputs[0].const_value is not None
    return constant_attribute(producer) is not None


# -- naming ----------------------------------------------------------------------------------------------------
# Names of values in a function: the word that all its calls have for them, or else by the node that makes them.


#: Names that exporters count up.
_SAYS_NOTHING = frozenset({"", "val", "value", "tensor", "output", "node", "onnx", "t", "v", "x", "y"})


def value_name(given: Sequence[str | None], scope: Scope, operator: str) -> str:
    """A variable for what a node makes: the word that all repetitions have for it, or else module and operator.

    >>> value_name(["scores_1", "scores_2"], ("attn",), "MatMul"), value_name(["7", "9"], ("attn",), "MatMul")
    ('scores', 'attn_mat_mul')
    """
    stems = {re.sub(r"(?:_?[0-9]+)+$", "", each or "") for each in given}
    stem = stems.pop() if len(stems) == 1 else ""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{2,30}", stem) and stem.lower() not in _SAYS_NOTHING:
        return snake_words((stem,))
    words = [part for part in scope if not part.isdigit()]
    return snake_words((*words[-1:], operator))


def snake_words(parts: Sequence[str]) -> str:
    """Words of any kind as one identifier.

    >>> snake_words(["attn.0", "qProj", "weight"])
    'attn_0_q_proj_weight'
    """
    words = [snake_case(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_")) for part in parts]
    text = "_".join(word for word in words if word).lstrip("0123456789_")
    return text or "value"
