"""Copies of nodes in another graph: with other values for what they take, and the attributes of a call filled in."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

#: What a value is in the place that nodes are copied to; None where it is left out there.
Values = Mapping[ir.Value, ir.Value | None]
Given = Mapping[str, ir.Attr]


def copied_node(node: ir.Node, values: Values, given: Given, outputs: int | None = None) -> ir.Node:
    """A node that takes what `values` says, with `given` for references to the attributes of a function."""
    attributes = [copied for each in node.attributes.values() if (copied := _attribute(each, values, given))]
    return ir.Node(
        node.domain,
        node.op_type,
        [None if each is None else values.get(each, each) for each in node.inputs],
        attributes,
        overload=node.overload,
        num_outputs=len(node.outputs) if outputs is None else outputs,
        name=node.name,
    )


def resolved_attributes(node: ir.Node, given: Given) -> dict[str, ir.Attr]:
    """The attributes of a call, with those filled in that are the attributes of the function around it."""
    found: dict[str, ir.Attr] = {}
    for name, each in node.attributes.items():
        actual = each if not each.is_ref() else given.get(each.ref_attr_name or "")
        if actual is not None and actual.value is not None:
            found[name] = ir.Attr(name, actual.type, actual.value)
    return found


def _attribute(attribute: ir.Attr, values: Values, given: Given) -> ir.Attr | None:
    if attribute.is_ref():
        actual = given.get(attribute.ref_attr_name or "")
        if actual is None or actual.value is None:
            return None  # what the call does not give is not given inside either
        return ir.Attr(attribute.name, actual.type, actual.value)
    if attribute.type == ir.AttributeType.GRAPH:
        return ir.AttrGraph(attribute.name, copied_graph(attribute.as_graph(), values, given))
    if attribute.type == ir.AttributeType.GRAPHS:
        graphs = [copied_graph(each, values, given) for each in attribute.as_graphs()]
        return ir.AttrGraphs(attribute.name, graphs)
    return attribute


def copied_graph(graph: ir.Graph, outer: Values, given: Given) -> ir.Graph:
    """A body with copies of all that is in it; what it takes from outside is what `outer` says."""
    values: dict[ir.Value, ir.Value | None] = dict(outer)
    inputs = [ir.Value(name=each.name, type=each.type, shape=each.shape) for each in graph.inputs]
    values.update(zip(graph.inputs, inputs, strict=True))
    initializers: list[ir.Value] = []
    for each in graph.initializers.values():
        if each.is_graph_input():
            continue
        own = ir.Value(name=each.name, type=each.type, shape=each.shape, const_value=each.const_value)
        values[each] = own
        initializers.append(own)
    nodes: list[ir.Node] = []
    for node in graph:
        copy = copied_node(node, values, given)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            new.name, new.type, new.shape = old.name, old.type, old.shape
            values[old] = new
        nodes.append(copy)
    outputs = [found for each in graph.outputs if (found := values.get(each, each)) is not None]
    return ir.Graph(inputs, outputs, nodes=nodes, initializers=initializers, name=graph.name)
