"""The function that defines an operator, in the place of a node: what there is for an older opset."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from onnxsmith.graphs.function_bodies import (
    body_of,
    function_of,
    names_around,
    opsets_of_functions,
    schema_of,
)
from onnxsmith.graphs.ir_types import proto_of_type, type_from_ir
from onnxsmith.graphs.rewriting.scopes import bodies_of, graphs_of, inner_nodes, standard_version
from onnxsmith.passes.values import has_references
from onnxsmith.passes.versions.step import Refusal, Step
from onnxsmith.schema.definition import OperatorDef

#: What names inside a function begin with, until they have others: no name of the model is one of them.
_PREFIX = "\0"


def body_in_place(step: Step, op: OperatorDef) -> list[ir.Value | None] | None:
    """The outputs of the operator's function, with its nodes made; None where it has no function.

    The nodes are of the opset that the function is written in: of several the newest that the target has, or else the
    oldest. `step.at` says which.
    """
    schema = schema_of(onnx.NodeProto(op_type=op.name, domain=op.domain), op.since_version)
    written = [] if schema is None else opsets_of_functions(schema)
    if schema is None or not written:
        return None
    if has_references(step.node) and schema.has_context_dependent_function:
        raise Refusal(
            "its attributes come with each call of the function that it is in", "inline the function first"
        )
    try:
        proto = ir.serde.serialize_node(step.node)
    except ir.serde.SerdeError:  # onnx-ir writes no sparse tensors
        raise Refusal("it holds a sparse tensor", "write the tensor with all its elements") from None
    types = [_proto_of(value) for value in step.node.inputs]
    newest = max((each for each in written if each <= step.target), default=min(written))
    try:
        function = function_of(schema, proto, types, newest)
    except Exception:  # onnx's function builders throw on what they do not expect
        raise Refusal(
            f"{op.name} came with opset {op.since_version}, and the function that defines it by older operators cannot"
            " be made for its types and attributes"
        ) from None
    if function is None:
        return None
    step.at = standard_version(function.opset_import, newest)
    return _made(step, proto, body_of(proto, function, schema, _PREFIX))


def _proto_of(value: ir.Value | None) -> onnx.TypeProto:
    return (
        onnx.TypeProto()
        if value is None or value.type is None
        else proto_of_type(type_from_ir(value.type, value.shape))
    )


def _made(step: Step, proto: onnx.NodeProto, nodes: list[onnx.NodeProto]) -> list[ir.Value | None]:
    """The nodes of a body as nodes of the graph: read as a graph of their own, then bound to the node's inputs."""
    given = {value.name: value for value in step.node.inputs if value is not None}
    around = names_around(proto)
    if around:
        read = (value for node in inner_nodes(step.node) for value in node.inputs)
        back = (
            value for graph in bodies_of(step.node) for each in graphs_of(graph) for value in each.outputs
        )
        given.update((each.name, each) for each in (*read, *back) if each is not None and each.name in around)
    outputs = [name for name in proto.output if name]
    text = onnx.GraphProto(name="body", node=nodes)
    text.input.extend(onnx.ValueInfoProto(name=name) for name in given)
    text.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    graph = ir.serde.deserialize_graph(text)
    by_name = {value.name: value for value in graph.outputs}
    results = [by_name.get(name) for name in proto.output]
    for value in graph.inputs:
        ir.convenience.replace_all_uses_with(value, given[value.name], replace_graph_outputs=True)
    made = list(graph)
    graph.outputs.clear()
    graph.remove(made)
    for node in made:
        node.name = ""
        node.domain = "" if node.domain == "ai.onnx" else node.domain
        _rename(step, node)
    step.made.extend(made)
    return [None if value is None else given.get(value.name, value) for value in results]


def _rename(step: Step, node: ir.Node) -> None:
    """Give the values of a node, and of those inside it, names that are free."""
    stem = step.node.outputs[0].name or step.node.op_type
    for value in node.outputs:
        if value.name:
            value.name = _own_name(step, stem, value)
    for graph in bodies_of(node):
        for value in (*graph.inputs, *graph.initializers.values()):
            value.name = _own_name(step, stem, value)
        for inner in graph:
            _rename(step, inner)


def _own_name(step: Step, stem: str, value: ir.Value) -> str:
    return step.edit.fresh_name(f"{stem}_{(value.name or '').removeprefix(_PREFIX)}")
