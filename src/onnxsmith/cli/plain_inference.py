"""Types of the values of a plain file that declares them only in part: the inference of calls, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx

from onnxsmith.cli.plain_graph import NotPlain, PlainGraph, PlainNode, known_data
from onnxsmith.schema import registry
from onnxsmith.schema.bind import check_node, check_types
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.broadcasting import OwnNames, completed_type
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.types.value_types import AnyValueType


def inferred_types(graph: PlainGraph) -> Mapping[str, AnyValueType]:
    """The types of all values, from those of the inputs; raises what a call that cannot work raises."""
    known = {name: _completed(NOTHING, graph, name) for name in graph.inputs}
    known |= {name: Known(*known_data(each)) for name, each in graph.initializers.items()}
    for node in graph.nodes:
        results = _results(node, graph, [known[each] if each else None for each in node.proto.input])
        for name, each in zip(node.proto.output, results, strict=False):
            if name:
                known[name] = _completed(each, graph, name)
    return {name: each.type for name, each in known.items()}


def _results(node: PlainNode, graph: PlainGraph, inputs: list[Known | None]) -> tuple[Known, ...]:
    version = graph.opset_imports.get(node.domain)
    op = None if version is None else registry.find(node.domain, node.op_type, version)
    count = len(node.proto.output)
    if op is None or version is None:
        return (NOTHING,) * count
    attributes: dict[str, Any] = {}
    for name, value in node.attributes.items():
        if isinstance(value, onnx.TensorProto):
            kind, content = known_data(value)
            if node.operator == "Constant" and name == "value":
                return (Known(kind, content),)
            if content is None:
                raise NotPlain  # inference asks for what it holds
            attributes[name] = content
        else:
            attributes[name] = value
    check_node(op, inputs, attributes)
    check_types(op, [None if each is None else each.type for each in inputs])
    return tuple(infer(op, version, inputs, attributes, count, {}))


def _completed(known: Known, graph: PlainGraph, name: str) -> Known:
    declared = graph.declared.get(name)
    if declared is None:
        return known
    kind = completed_type(known.type, declared, OwnNames())
    return known if kind is known.type else Known(kind, known.data)
