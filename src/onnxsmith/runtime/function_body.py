"""An operator's own definition in terms of other operators, in place of the operator.

Expands what the installed onnx defines as a function; runs nothing.
"""

from __future__ import annotations

from collections.abc import Set

import onnx

from onnxsmith.graphs.function_bodies import body_of, function_of, schema_of
from onnxsmith.graphs.rewriting.copies import copied, replace_nodes
from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from onnxsmith.graphs.rewriting.scopes import all_nodes, plain_domain, standard_version
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.schema import registry
from onnxsmith.schema.equivalent_versions import range_of_meaning

#: How deep bodies may use operators that have bodies themselves.
_MOST_ROUNDS = 8


def inlined_model(model: onnx.ModelProto, names: Set[str] | None = None) -> onnx.ModelProto:
    """A copy with the standard operators of these names, or all that have function bodies, replaced, to any depth.

    Only bodies whose operators mean the same in the opset of the model are taken; model-local functions stay.
    """
    result = copied(model)
    local = {(function.domain, function.name) for function in model.functions}
    for count in range(_MOST_ROUNDS):
        version = standard_version(result.opset_import)
        inferred = inferred_graph(result)
        types = {info.name: info.type for info in (*inferred.input, *inferred.value_info, *inferred.output)}
        nodes: list[onnx.NodeProto] = []
        for position, node in enumerate(result.graph.node):
            is_wanted = names is None or node.op_type in names
            schema = (
                schema_of(node, version) if is_wanted and (node.domain, node.op_type) not in local else None
            )
            given = [types.get(name, onnx.TypeProto()) for name in node.input]
            function = None if schema is None else function_of(schema, node, given, version)
            if schema is None or function is None or not _means_the_same(function, version):
                nodes.append(node)
            else:
                body = body_of(node, function, schema, f"body_{count}_{position}_")
                for number, each in enumerate(body if node.name else ()):
                    each.name = f"{node.name}/{number}"  # whose body it is
                nodes.extend(body)
        if len(nodes) == len(result.graph.node):
            break
        replace_nodes(result.graph.node, nodes)
    return result


def body_in_place(site: Site) -> bool:
    """Emit the operator's function body in place of a node; False when it has none that its opset can say."""
    version = site.emit.version
    schema = schema_of(site.node, site.version)
    types = [site.scope.type_of(name) or onnx.TypeProto() for name in site.node.input]
    try:
        function = None if schema is None else function_of(schema, site.node, types, version)
    except Exception:  # onnx's function builders throw on what they do not expect
        return False
    if schema is None or function is None or not _means_the_same(function, version):
        return False
    for node in body_of(site.node, function, schema, site.emit.names.after(site.output(0)) + "_"):
        site.emit.keep(node)
    return True


def _means_the_same(function: onnx.FunctionProto, version: int) -> bool:
    """True if each operator of a function body means in this opset what it means in the one that the body is of."""
    written = standard_version(function.opset_import, version)
    for node in all_nodes(function.node):
        op = None if plain_domain(node.domain) else registry.find("", node.op_type, written)
        if op is None:
            return False
        _, end = range_of_meaning(op)
        if end is not None and version >= end:
            return False
    return True
