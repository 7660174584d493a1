"""The lowest opset and IR versions that say the same thing, so that older runtimes accept a model.

An opset version only says which definition each operator has: a model whose operators have all had the same
definition since version 14 means the same under 14 and under 28. Nothing else about a model is changed here.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import defs

from onnxsmith.graphs.rewriting.scopes import nodes_of_model
from onnxsmith.types.dtypes import DType

#: Below this nothing relevant differs: functions, optionals and initializers that are no inputs are all in.
BASE_IR_VERSION = 8
#: Attributes that name an element type by its code.
_NAMES_OF_TYPES = frozenset({"to", "dtype", "output_dtype"})
#: The IR version that brought each element type, by its code.
_IR_VERSIONS = {int(dtype): dtype.ir_version for dtype in DType}


def lower_opsets(model: onnx.ModelProto) -> None:
    """Lower each imported opset version as far as every operator keeps its definition."""
    local = {(function.domain, function.name) for function in model.functions}
    # All in one: runtimes put functions in the place of their calls, in the opset of the graph.
    nodes = nodes_of_model(model)
    _lower(model.opset_import, nodes, local)
    for function in model.functions:
        _lower(function.opset_import, nodes, local)


def _lower(
    imports: Iterable[onnx.OperatorSetIdProto], nodes: list[onnx.NodeProto], local: set[tuple[str, str]]
) -> None:
    for entry in imports:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        lowest = 1
        for node in nodes:
            if ("" if node.domain == "ai.onnx" else node.domain) != domain or (
                node.domain,
                node.op_type,
            ) in local:
                continue
            try:
                lowest = max(lowest, defs.get_schema(node.op_type, entry.version, domain).since_version)
            except defs.SchemaError:
                lowest = entry.version  # nobody knows what it means, so nothing may change
        entry.version = lowest


def lowest_ir_version(model: onnx.ModelProto) -> int:
    """The lowest IR version that has every element type of the model."""
    codes: set[int] = set()
    _note_element_types(model.graph, codes)
    return max([BASE_IR_VERSION, *(_IR_VERSIONS.get(code, 0) for code in codes)])


def _note_element_types(graph: onnx.GraphProto, codes: set[int]) -> None:
    for infos in (graph.input, graph.output, graph.value_info):
        for info in infos:
            codes.add(_element_type(info.type))
    for tensor in graph.initializer:
        codes.add(tensor.data_type)
    for node in graph.node:
        for attribute in node.attribute:
            kind = attribute.type
            if kind == onnx.AttributeProto.INT:
                if attribute.name in _NAMES_OF_TYPES:
                    codes.add(attribute.i)
            elif kind == onnx.AttributeProto.TENSOR:
                codes.add(attribute.t.data_type)
            elif kind == onnx.AttributeProto.TYPE_PROTO:
                codes.add(_element_type(attribute.tp))
            elif kind == onnx.AttributeProto.GRAPH:
                _note_element_types(attribute.g, codes)
            elif kind == onnx.AttributeProto.GRAPHS:
                for inner in attribute.graphs:
                    _note_element_types(inner, codes)


def _element_type(proto: onnx.TypeProto) -> int:
    match proto.WhichOneof("value"):
        case "tensor_type":
            return proto.tensor_type.elem_type
        case "sequence_type":
            return _element_type(proto.sequence_type.elem_type)
        case "optional_type":
            return _element_type(proto.optional_type.elem_type)
        case "map_type":
            return _element_type(proto.map_type.value_type)
        case "sparse_tensor_type":
            return proto.sparse_tensor_type.elem_type
        case _:
            return 0
