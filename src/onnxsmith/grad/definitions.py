"""ONNX's definition of an operator, as a graph of onnx-ir: for operators that have no rule of their own."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
import onnx_ir as ir

from onnxsmith.graphs.function_bodies import body_of, function_of, schema_of
from onnxsmith.graphs.ir_types import proto_of_type
from onnxsmith.schema import registry
from onnxsmith.schema.equivalent_versions import range_of_meaning
from onnxsmith.types.value_types import AnyValueType


def defining_graph(
    node: ir.Node, attributes: Sequence[ir.Attr], types: Sequence[AnyValueType | None], version: int
) -> ir.Graph | None:
    """The graph that a node stands for, on inputs of these types; its inputs are those that are given.

    None where ONNX has no definition, or only one in operators that mean something else in the opset at hand.
    """
    proto = onnx.NodeProto(op_type=node.op_type)
    proto.input.extend("" if each is None else f"input_{k}" for k, each in enumerate(types))
    proto.output.extend(f"output_{k}" for k in range(len(node.outputs)))
    proto.attribute.extend(ir.serde.serialize_attribute(each) for each in attributes)
    schema = schema_of(proto, version)
    given = [onnx.TypeProto() if each is None else proto_of_type(each) for each in types]
    try:
        function = None if schema is None else function_of(schema, proto, given, version)
    except Exception:  # onnx's function builders throw on what they do not expect
        return None
    if function is None or not _means_the_same(function, version):
        return None
    graph = onnx.GraphProto(name=node.op_type, node=body_of(proto, function, schema, "inner_"))
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in proto.input if name)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in proto.output)
    return ir.serde.deserialize_graph(graph)


def _means_the_same(function: onnx.FunctionProto, version: int) -> bool:
    """True if the operators of a definition mean in this opset what they mean in the one that it is written in."""
    imported = {entry.domain: entry.version for entry in function.opset_import}
    written = imported.get("", imported.get("ai.onnx", version))
    for node in function.node:
        found = registry.find("", node.op_type, written)
        if found is None:
            return False
        end = range_of_meaning(found)[1]
        if end is not None and version >= end:
            return False
    return True
