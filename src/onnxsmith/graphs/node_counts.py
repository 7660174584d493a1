"""How many nodes a model has. One count, wherever nodes are counted: in reports, by commands, by `repr`.

All nodes count: those of the main graph, of the graphs inside nodes, and of functions, which count once however often
they are called. Constants are nodes where they stand as such, and none where they are initializers. `model.nodes` has
as many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import onnx

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import ModelRecord, NodeRecord
from onnxsmith.graphs.rewriting.scopes import graphs_of_proto, nodes_of

#: A model, however it is held.
Counted: TypeAlias = "ir.Model | ModelRecord | onnx.ModelProto"


def operator_counts(part: Counted | ir.Function) -> Counter[str]:
    """How many nodes of each operator a model or a function has; of other domains, `domain::Operator`."""
    nodes = part.graph.all_nodes() if isinstance(part, ir.Function) else _nodes(part)
    return Counter(f"{node.domain}::{node.op_type}" if node.domain else node.op_type for node in nodes)


def operators_in(model: Counted) -> set[tuple[str, str]]:
    """The operators that a model has, by domain and name; the standard domain is empty."""
    return {(node.domain if node.domain != "ai.onnx" else "", node.op_type) for node in _nodes(model)}


def node_count(model: Counted) -> int:
    """How many nodes a model has."""
    return sum(1 for _ in _nodes(model))


def _nodes(model: Counted) -> Iterator[ir.Node | NodeRecord | onnx.NodeProto]:
    if isinstance(model, onnx.ModelProto):
        for graph in graphs_of_proto(model):
            yield from graph.node
    elif isinstance(model, ModelRecord):
        for part in (model, *model.functions):
            yield from part.graph.all_nodes()
    else:
        yield from nodes_of(model)
