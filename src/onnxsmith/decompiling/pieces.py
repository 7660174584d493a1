"""One function or one node as Python: the same writer, on a model that holds nothing else."""

from __future__ import annotations

from typing import Any, cast

import onnx
import onnx_ir as ir

from onnxsmith.decompiling.callees import definition_of
from onnxsmith.decompiling.module_writer import ModuleWriter
from onnxsmith.decompiling.reading import Given
from onnxsmith.decompiling.script_writer import ScriptWriter
from onnxsmith.decompiling.weight_files import in_text
from onnxsmith.graphs import beyond, files
from onnxsmith.graphs.identifiers import Identifiers
from onnxsmith.graphs.rewriting.scopes import graphs_of, names_around
from onnxsmith.schema import registry


def is_piece(value: Any) -> bool:
    """True if it is a function or a node."""
    return isinstance(value, onnx.FunctionProto | onnx.NodeProto | ir.Function | ir.Node)


def decompile_piece(value: Any) -> str:
    """The text of one function or one node."""
    with files.reading("this"):
        if isinstance(value, onnx.FunctionProto):
            proto, value = value, ir.serde.deserialize_function(value)
            files.type_inputs(value, proto)
        elif isinstance(value, ir.Node):
            value = ir.serde.serialize_node(value)
    if isinstance(value, ir.Function):
        files.refuse_external(list(graphs_of(value.graph)), "the function")
    return _function(value) if isinstance(value, ir.Function) else _node(cast(onnx.NodeProto, value))


def _function(function: ir.Function) -> str:
    """A script, and the FunctionProto rebuilt from it."""
    graph = ir.Graph([], [], nodes=[], opset_imports=dict(function.opset_imports), name="nothing")
    writer = ModuleWriter(Given(ir.Model(graph, ir_version=onnx.IR_VERSION, functions=[function])))
    body = writer.write_function(function)
    weights = in_text(writer, None)
    return "\n".join([*writer.header(weights), *body]) + "\n"


def _node(proto: onnx.NodeProto) -> str:
    """A statement, with the imports that it needs. What it uses are variables of the reader's."""
    model, types = beyond.from_proto(_around(proto), "the NodeProto")
    node = model.graph[0]
    imports = {"": registry.latest_version("")}
    for inner in model.graph.all_nodes():
        imports[inner.domain] = min(imports.get(inner.domain, 1 << 31), _fitting_version(inner))
    model.opset_imports.update(imports)
    writer = ModuleWriter(Given(model, None, types))
    writer.used.clear()
    script = ScriptWriter(writer, model.graph, imports, _parameters(model.graph))
    script.name_inputs(model.graph)
    statement = script.statement(node, 0)
    header = writer.header(in_text(writer, None))
    return (
        "\n".join([*header, *([""] if header else []), *"\n".join(statement).strip("\n").split("\n")]) + "\n"
    )


def _around(proto: onnx.NodeProto) -> onnx.ModelProto:
    """A model that holds one node, and whose inputs are what the node uses."""
    graph = onnx.GraphProto(name="nothing", node=[proto])
    names = dict.fromkeys([*proto.input, *sorted(names_around(proto))])
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in names if name)
    return onnx.ModelProto(ir_version=onnx.IR_VERSION, graph=graph)


def _parameters(graph: ir.Graph) -> dict[str, str]:
    """Attributes that refer to those of a function around the node."""
    names = [
        each.ref_attr_name
        for node in graph.all_nodes()
        for each in node.attributes.values()
        if each.is_ref() and each.ref_attr_name
    ]
    identifiers = Identifiers()
    return {name: identifiers.for_value(name, "attribute") for name in dict.fromkeys(names)}


def _fitting_version(node: ir.Node) -> int:
    """The newest version of the node's domain whose schema it keeps to: a node alone does not say which it means."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    newest = registry.latest_version(domain)
    for version in range(newest, 0, -1):
        if definition_of(node, {domain: version}) is not None:
            return version
    return newest
