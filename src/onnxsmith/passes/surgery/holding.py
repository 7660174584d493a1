"""Holds the parts of a model, to be cut and joined, and makes a model of the result.

Models with maps or sparse weights, which onnx-ir has no place for, come with stand-ins and leave without them.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import onnx_ir as ir

from onnxsmith.graphs import beyond
from onnxsmith.graphs.ir_types import proto_of_type
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_content import ModelContent as ModelContent
from onnxsmith.graphs.model_content import read as read
from onnxsmith.graphs.rewriting.scopes import own_values
from onnxsmith.types.value_types import AnyValueType, MapType, TensorType


def finished(held: ModelContent) -> Model:
    """The model of what was made."""
    graph = held.graph
    ports = {each.name for each in (*graph.inputs, *graph.outputs)}
    special = {name: kind for name, kind in held.special.items() if name in ports}
    made = {value.name for node in graph for value in node.outputs} if held.special else set[str | None]()
    inside = {name: kind for name, kind in held.special.items() if name in made and name not in ports}
    if not inside and not beyond.needs_proto(held.ir, special):
        return Model(held.ir)
    proto = beyond.to_proto(held.ir, special)
    _note_types(proto, inside)
    return Model.from_proto(proto)


def _note_types(proto: onnx.ModelProto, types: Mapping[str, AnyValueType]) -> None:
    """Put the types of values back that onnx-ir could not hold."""
    noted = {each.name for each in proto.graph.value_info}
    for node in proto.graph.node:
        for name in node.output:
            if name in types and name not in noted:
                proto.graph.value_info.add(name=name).type.CopyFrom(proto_of_type(types[name]))


def is_special(kind: AnyValueType) -> bool:
    """True if onnx-ir has no place for a type."""
    if isinstance(kind, TensorType):
        return False
    return isinstance(kind, MapType) or is_special(kind.element)


def values_by_name(graph: ir.Graph) -> dict[str, ir.Value]:
    """The values of a graph that have a name; those inside its nodes are left out."""
    return {value.name: value for value in own_values(graph) if value.name}


def optional_inputs(graph: ir.Graph) -> list[ir.Value]:
    """The inputs that have one."""
    return [value for value in graph.inputs if value.name in graph.initializers]
