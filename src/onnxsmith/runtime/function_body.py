"""An operator's own definition in terms of other operators, in place of the operator.

Expands what the installed onnx defines as a function; runs nothing. onnx has an inliner of its own, which loses the
defaults of attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import onnx
from onnx import defs

from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from onnxsmith.graphs.rewriting.scopes import all_nodes, plain_domain
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.schema import registry
from onnxsmith.schema.same_meaning import range_of_meaning

#: How deep bodies may use operators that have bodies themselves.
_MOST_ROUNDS = 8


def inlined_model(model: onnx.ModelProto, names: Set[str] | None = None) -> onnx.ModelProto:
    """A copy with the standard operators of these names, or all that have function bodies, replaced, to any depth.

    Only bodies whose operators mean the same in the opset of the model are taken; model-local functions stay.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    local = {(function.domain, function.name) for function in model.functions}
    for count in range(_MOST_ROUNDS):
        version = next((entry.version for entry in result.opset_import if entry.domain in ("", "ai.onnx")), 0)
        inferred = inferred_graph(result)
        types = {info.name: info.type for info in (*inferred.input, *inferred.value_info, *inferred.output)}
        nodes: list[onnx.NodeProto] = []
        for position, node in enumerate(result.graph.node):
            is_wanted = names is None or node.op_type in names
            schema = (
                _schema(node, version) if is_wanted and (node.domain, node.op_type) not in local else None
            )
            given = [types.get(name, onnx.TypeProto()) for name in node.input]
            function = None if schema is None else _function(schema, node, given, version)
            if schema is None or function is None or not _means_the_same(function, version):
                nodes.append(node)
            else:
                nodes.extend(_body(node, function, schema, f"body_{count}_{position}_"))
        if len(nodes) == len(result.graph.node):
            break
        copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
        del result.graph.node[:]
        result.graph.node.extend(copies)
    return result


def body_in_place(site: Site) -> bool:
    """Emit the operator's function body in place of a node; False when it has none that its opset can say."""
    version = site.emit.version
    schema = _schema(site.node, site.version)
    types = [site.scope.type_of(name) or onnx.TypeProto() for name in site.node.input]
    try:
        function = None if schema is None else _function(schema, site.node, types, version)
    except Exception:  # onnx's function builders throw on what they do not expect
        return False
    if schema is None or function is None or not _means_the_same(function, version):
        return False
    for node in _body(site.node, function, schema, site.emit.names.after(site.output(0)) + "_"):
        site.emit.keep(node)
    return True


def _schema(node: onnx.NodeProto, version: int) -> Any:
    try:
        return defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None


def _function(
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


def _means_the_same(function: onnx.FunctionProto, version: int) -> bool:
    """Whether each operator of a function body means in this opset what it means in the one that the body is of."""
    written = next(
        (entry.version for entry in function.opset_import if entry.domain in ("", "ai.onnx")), version
    )
    for node in all_nodes(function.node):
        op = None if plain_domain(node.domain) else registry.find("", node.op_type, written)
        if op is None:
            return False
        _, end = range_of_meaning(op)
        if end is not None and version >= end:
            return False
    return True


def _body(
    node: onnx.NodeProto, function: onnx.FunctionProto, schema: Any, prefix: str
) -> list[onnx.NodeProto]:
    """A function's nodes with a node's names and attributes in place of the formal ones."""
    names = dict.fromkeys(function.input, "")  # inputs that were left out become holes
    names.update(zip(function.input, node.input, strict=False))
    names.update(
        (formal, actual) for formal, actual in zip(function.output, node.output, strict=False) if actual
    )
    attributes = {attribute.name: attribute for attribute in node.attribute}
    for default in function.attribute_proto:
        attributes.setdefault(default.name, default)
    for name, formal in schema.attributes.items():
        if formal.default_value.type != onnx.AttributeProto.UNDEFINED:
            attributes.setdefault(name, formal.default_value)
    return _renamed(function.node, names, attributes, prefix)


def _renamed(
    nodes: Iterable[onnx.NodeProto],
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto],
    prefix: str,
) -> list[onnx.NodeProto]:
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
            if attribute.type == onnx.AttributeProto.GRAPH:
                _rename_graph(fresh.g, names, attributes, prefix)
        copies.append(copy)
    return copies


def _rename_graph(
    graph: onnx.GraphProto,
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto],
    prefix: str,
) -> None:
    nodes = _renamed(graph.node, names, attributes, prefix)
    del graph.node[:]
    graph.node.extend(nodes)
    for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        named.name = names[named.name] if named.name in names else prefix + named.name
