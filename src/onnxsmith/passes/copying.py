"""Copies of a graph's nodes in another place: a branch that is taken, the body of a function, one turn of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt

#: What values of the graph that is copied are in the place that they are copied to.
Values = dict[ir.Value, ir.Value | None]


def copied_in(
    at: Attempt,
    graph: ir.Graph,
    given: Mapping[ir.Value, ir.Value | None],
    attributes: Mapping[str, ir.Attr] | None = None,
) -> Sequence[ir.Value | None] | None:
    """Copies of a graph's nodes for the place of a node, and what its outputs are there.

    `given` are values for its inputs, `attributes` those of the function that the graph is the body of. None where it
    cannot be copied; nothing was made then that is not thrown away.
    """
    values: Values = dict(given)
    for value in graph.initializers.values():
        if value.const_value is None:
            return None
        values[value] = at.tensor(value.const_value, value.name or "constant")
    at.made.extend(_copied(at, node, values, attributes) for node in at.edit.living(graph))
    return [values.get(each, each) for each in graph.outputs]


def _copied(at: Attempt, node: ir.Node, values: Values, given: Mapping[str, ir.Attr] | None) -> ir.Node:
    inputs = [None if each is None else values.get(each, each) for each in node.inputs]
    attributes: list[ir.Attr] = []
    for each in node.attributes.values():
        copy = _attribute(at, each, values, given)
        if copy is not None:
            attributes.append(copy)
    result = ir.Node(
        node.domain,
        node.op_type,
        inputs,
        attributes,
        overload=node.overload,
        num_outputs=len(node.outputs),
        name=at.edit.fresh_name(node.name) if node.name else None,
        doc_string=node.doc_string,
        metadata_props=dict(node.metadata_props),
    )
    for old, new in zip(node.outputs, result.outputs, strict=True):
        new.name = at.edit.fresh_name(old.name) if old.name else old.name
        new.type, new.shape = old.type, old.shape
        values[old] = new
    return result


def _attribute(
    at: Attempt, attribute: ir.Attr, values: Values, given: Mapping[str, ir.Attr] | None
) -> ir.Attr | None:
    if attribute.is_ref():
        if given is None:
            return attribute
        # An attribute that the call does not give is not given inside either.
        actual = given.get(attribute.ref_attr_name or "")
        if actual is None or actual.value is None:
            return None if actual is None or not actual.is_ref() else _renamed_reference(attribute, actual)
        return ir.Attr(attribute.name, actual.type, actual.value)
    if attribute.type == ir.AttributeType.GRAPH:
        return ir.AttrGraph(attribute.name, _copied_graph(at, attribute.as_graph(), values, given))
    return attribute


def _renamed_reference(attribute: ir.Attr, actual: ir.Attr) -> ir.Attr:
    return ir.RefAttr(attribute.name, actual.ref_attr_name or "", attribute.type)


def _copied_graph(
    at: Attempt, graph: ir.Graph, outer: Values, given: Mapping[str, ir.Attr] | None
) -> ir.Graph:
    values = dict(outer)
    inputs: list[ir.Value] = []
    for each in graph.inputs:
        own = ir.Value(name=at.edit.fresh_name(each.name or "input"), type=each.type, shape=each.shape)
        values[each] = own
        inputs.append(own)
    initializers: list[ir.Value] = []
    for each in graph.initializers.values():
        if each in values:
            continue
        own = ir.Value(
            name=at.edit.fresh_name(each.name or "constant"),
            type=each.type,
            shape=each.shape,
            const_value=each.const_value,
        )
        values[each] = own
        initializers.append(own)
    nodes = [_copied(at, node, values, given) for node in at.edit.living(graph)]
    outputs = [found for each in graph.outputs if (found := values.get(each, each)) is not None]
    return ir.Graph(inputs, outputs, nodes=nodes, initializers=initializers, name=graph.name)
