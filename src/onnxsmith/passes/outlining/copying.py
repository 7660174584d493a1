"""Copies of nodes for the body of a function. What they use from outside is handed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir

from onnxsmith.graphs.identifiers import Identifiers
from onnxsmith.passes.outlining.naming import value_name
from onnxsmith.passes.outlining.wiring import graphs_by_name


class NodeCopy:
    """Copies one node; what it uses from outside, in graphs inside it too, is handed in, use by use."""

    def __init__(self, used: Iterator[ir.Value | None], names: Identifiers) -> None:
        """`used` gives what `used_values` gives for the node, as it is in the function."""
        self._used = used
        self._names = names

    def node(self, node: ir.Node, made: dict[ir.Value, ir.Value]) -> ir.Node:
        """The copy; its outputs, which have no names yet, are put into `made`."""
        result = self._with_inputs(node, [next(self._used) for _ in node.inputs], {})
        made.update(zip(node.outputs, result.outputs, strict=True))
        return result

    def _with_inputs(
        self, node: ir.Node, inputs: Sequence[ir.Value | None], own: dict[ir.Value, ir.Value]
    ) -> ir.Node:
        graphs = {id(graph): self._graph(graph, own) for graph in graphs_by_name(node)}
        attributes: list[ir.Attr] = []
        for name, attribute in node.attributes.items():
            if attribute.is_ref():
                attributes.append(attribute)
            elif attribute.type == ir.AttributeType.GRAPH:
                attributes.append(ir.AttrGraph(name, graphs[id(attribute.as_graph())]))
            elif attribute.type == ir.AttributeType.GRAPHS:
                copies = [graphs[id(each)] for each in attribute.as_graphs()]
                attributes.append(ir.AttrGraphs(name, copies))
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
                new.name = self._names.unique(value_name([old.name], (), node.op_type)) if old.name else ""
            nodes.append(copy)
        outputs = [own[value] for value in graph.outputs]
        return ir.Graph(
            inputs, outputs, nodes=nodes, initializers=weights, name=graph.name, doc_string=graph.doc_string
        )

    def _value(self, value: ir.Value, kind: str, own: dict[ir.Value, ir.Value]) -> ir.Value:
        if value not in own:
            own[value] = ir.Value(
                name=self._names.unique(value_name([value.name], (), kind)),
                type=value.type,
                shape=value.shape,
                const_value=value.const_value,
            )
        return own[value]
