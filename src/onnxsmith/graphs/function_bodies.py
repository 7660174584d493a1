"""The definition of an operator by other operators, as the installed onnx has it, for one node.

Finds a definition and puts a node's names and attributes into it. The caller puts it in the place of the node.
The function says in which opset it is written. onnx has an inliner of its own, which loses the defaults of
attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import onnx
from onnx import defs


def schema_of(node: onnx.NodeProto, version: int) -> Any:
    """onnx's definition of a node's operator in a version of its domain; None where there is none."""
    try:
        return defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None


def function_of(
    schema: Any, node: onnx.NodeProto, types: list[onnx.TypeProto], newest: int
) -> onnx.FunctionProto | None:
    """The function that defines an operator, for a node with inputs of these types; for an opset up to `newest`."""
    function = onnx.FunctionProto()
    written = [each for each in schema.function_opset_versions if each <= newest]
    if schema.has_function and written:
        function.ParseFromString(schema.get_function_with_opset_version(max(written)))
        return function
    written = [each for each in schema.context_dependent_function_opset_versions if each <= newest]
    if schema.has_context_dependent_function and written:
        content = schema.get_context_dependent_function_with_opset_version(
            max(written), node.SerializeToString(), [each.SerializeToString() for each in types]
        )
        function.ParseFromString(content)
        return function if function.node else None
    return None


def opsets_of_functions(schema: Any) -> list[int]:
    """The opsets that an operator's function is written in; several where operators that it uses have changed."""
    written = {*(schema.function_opset_versions if schema.has_function else ())}
    if schema.has_context_dependent_function:
        written.update(schema.context_dependent_function_opset_versions)
    return sorted(written)


def body_of(
    node: onnx.NodeProto, function: onnx.FunctionProto, schema: Any, prefix: str
) -> list[onnx.NodeProto]:
    """A function's nodes with a node's names and attributes in place of the formal ones.

    `schema` is that of an operator; a model's own function has none.
    """
    names = dict.fromkeys(function.input, "")  # inputs that were left out become holes
    names.update(zip(function.input, node.input, strict=False))
    passed: list[tuple[str, str]] = []
    for formal, actual in zip(function.output, node.output, strict=False):
        if actual and formal in names:  # it is an input, or given twice
            passed.append((names[formal], actual))
        elif actual:
            names[formal] = actual
    attributes = {attribute.name: attribute for attribute in node.attribute}
    for default in function.attribute_proto:
        attributes.setdefault(default.name, default)
    for name, formal in () if schema is None else schema.attributes.items():
        if formal.default_value.type != onnx.AttributeProto.UNDEFINED:
            attributes.setdefault(name, formal.default_value)
    copies = named_apart(function.node, names, attributes, prefix)
    return copies + [onnx.helper.make_node("Identity", [name], [actual]) for name, actual in passed]


def named_apart(
    nodes: Iterable[onnx.NodeProto],
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto],
    prefix: str,
) -> list[onnx.NodeProto]:
    """Copies of nodes, bodies included, with these names of values, and with a prefix to all others."""
    copies: list[onnx.NodeProto] = []

    def name_of(name: str) -> str:
        return names[name] if name in names else (prefix + name if name else "")

    for node in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [name_of(each) for each in node.input]
        copy.output[:] = [name_of(each) for each in node.output]
        del copy.attribute[:]
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                given = attributes.get(attribute.ref_attr_name)
                if given is None:
                    continue
                fresh = copy.attribute.add()
                fresh.CopyFrom(given)
                fresh.name = attribute.name
                continue
            fresh = copy.attribute.add()
            fresh.CopyFrom(attribute)
            for graph in (fresh.g,) if attribute.type == onnx.AttributeProto.GRAPH else fresh.graphs:
                _rename_graph(graph, names, attributes, prefix)
        copies.append(copy)
    return copies


def _rename_graph(
    graph: onnx.GraphProto,
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto],
    prefix: str,
) -> None:
    nodes = named_apart(graph.node, names, attributes, prefix)
    del graph.node[:]
    graph.node.extend(nodes)
    sparse = (each.values for each in graph.sparse_initializer)
    for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer, *sparse):
        named.name = names[named.name] if named.name in names else prefix + named.name
