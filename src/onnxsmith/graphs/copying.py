"""Copies of nodes of onnx-ir in another graph, graphs inside them included.

A branch that is taken, the body of a function, an iteration of a loop, a part that repeats: all are copied here, with
other values for what they take. Whole models are copied by onnx-ir's `clone`, protos by `rewriting.copies`; recorded
nodes are recorded again and never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from onnxsmith.graphs.lazy_ir import ir

#: What values are in the graph that nodes are copied to; None where they are left out there.
Values: TypeAlias = "Mapping[ir.Value, ir.Value | None]"
Attributes: TypeAlias = "Mapping[str, ir.Attr]"


def _kept(name: str, kind: str) -> str:
    return name


def _itself(value: ir.Value) -> ir.Value | None:
    return value


class Copier:
    """Copies nodes into another graph."""

    def __init__(
        self,
        attributes: Attributes | None = None,
        *,
        name: Callable[[str, str], str | None] = _kept,
        nodes: Callable[[ir.Graph], Iterable[ir.Node]] = iter,
        outside: Callable[[ir.Value], ir.Value | None] = _itself,
        has_type: Callable[[ir.Value], bool] | None = None,
    ) -> None:
        """`attributes` are those of the function that nodes are the body of; references stay where there are none.

        `name` makes the names: of the old one, and what it is of (an operator, "input", "weight" or "node"). `nodes`
        are those of a graph that are copied, `outside` is what stands for a value that was not copied, and `has_type`
        says which outputs have the type of the old ones; else all have.
        """
        self._attributes = attributes
        self._name = name
        self._nodes = nodes
        self._outside = outside
        self._has_type = has_type

    def node(self, node: ir.Node, values: Values, outputs: int | None = None) -> ir.Node:
        """A copy that takes what `values` says; its outputs have no names yet."""
        outside, held = self._outside, node.attributes
        inputs = [
            None if each is None else values[each] if each in values else outside(each)
            for each in node.inputs
        ]
        # In the order of their names: what graphs take from outside does not depend on the order in a file.
        made = {name: self._attribute(held[name], values) for name in sorted(held)} if held else {}
        return ir.Node(
            node.domain,
            node.op_type,
            inputs,
            [each for each in map(made.get, held) if each is not None] if held else (),
            overload=node.overload,
            num_outputs=len(node.outputs) if outputs is None else outputs,
            name=self._name(node.name, "node") if node.name else None,
            doc_string=node.doc_string,
            metadata_props=dict(node.metadata_props),
        )

    def place(self, node: ir.Node, values: dict[ir.Value, ir.Value | None]) -> ir.Node:
        """A copy with names and types of its outputs, which stand for the old ones in `values` from now on."""
        copy = self.node(node, values)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            new.name = self._name(old.name, node.op_type) if old.name else old.name
            if self._has_type is None or self._has_type(old):
                new.type, new.shape = old.type, old.shape
            values[old] = new
        return copy

    def graph(self, graph: ir.Graph, outer: Values) -> ir.Graph:
        """A body with copies of all that is in it; what it takes from outside is what `outer` says."""
        values = dict(outer)
        own: dict[ir.Value, ir.Value] = {}
        for kind, held in (("input", graph.inputs), ("weight", graph.initializers.values())):
            for each in held:
                if each not in own:
                    name = self._name(each.name or kind, kind)
                    own[each] = ir.Value(
                        name=name, type=each.type, shape=each.shape, const_value=each.const_value
                    )
        values.update(own)
        nodes = [self.place(node, values) for node in self._nodes(graph)]
        return ir.Graph(
            [own[each] for each in graph.inputs],
            [found for each in graph.outputs if (found := values.get(each, each)) is not None],
            nodes=nodes,
            initializers=[own[each] for each in graph.initializers.values()],
            name=graph.name,
            doc_string=graph.doc_string,
        )

    def _attribute(self, attribute: ir.Attr, values: Values) -> ir.Attr | None:
        actual = attribute if self._attributes is None else resolved(attribute, self._attributes)
        if actual is None or actual.is_ref():
            return actual
        if actual.type == ir.AttributeType.GRAPH:
            return ir.AttrGraph(actual.name, self.graph(actual.as_graph(), values))
        if actual.type == ir.AttributeType.GRAPHS:
            return ir.AttrGraphs(actual.name, [self.graph(each, values) for each in actual.as_graphs()])
        return actual


def resolved(attribute: ir.Attr, given: Attributes) -> ir.Attr | None:
    """An attribute inside a function, with what a call gives for a reference; None where the call gives nothing."""
    if not attribute.is_ref():
        return attribute
    actual = given.get(attribute.ref_attr_name or "")
    if (
        actual is not None and actual.is_ref()
    ):  # the call is in a function itself, and hands on what that is given
        return ir.RefAttr(attribute.name, actual.ref_attr_name or "", attribute.type)
    return (
        None if actual is None or actual.value is None else ir.Attr(attribute.name, actual.type, actual.value)
    )


# -- functions -----------------------------------------------------------------------------------------------


def with_graph(
    function: ir.Function, graph: ir.Graph, identifier: ir.OperatorIdentifier | None = None
) -> ir.Function:
    """A function with the parameters of another one: of another graph, and perhaps of another name."""
    attributes = list(function.attributes.values())
    return ir.Function(*(identifier or function.identifier()), graph=graph, attributes=attributes)


def call_by(
    names: Mapping[ir.OperatorIdentifier, ir.OperatorIdentifier], nodes: Iterable[ir.Node]
) -> set[ir.OperatorIdentifier]:
    """Let nodes that call functions call them by other names; those that they call now."""
    called: set[ir.OperatorIdentifier] = set()
    for node in nodes if names else ():
        new = names.get(node.op_identifier())
        if new is not None:
            node.domain, node.op_type, node.overload = new
            called.add(new)
    return called
