"""Copies of protos: of any as it is, nodes in another graph, and functions that take the place of others.

For nodes of onnx-ir see `graphs.copying`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableSequence
from typing import TypeVar

import onnx
from google.protobuf.message import Message

from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    calls_in,
    functions_of,
    inner_graphs,
    nodes_of_model,
    reached,
)

P = TypeVar("P", bound=Message)


def copied(proto: P) -> P:
    """A copy of a proto, which may be changed."""
    made = type(proto)()
    made.CopyFrom(proto)
    return made


def copied_nodes(
    nodes: Iterable[onnx.NodeProto],
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto] | None = None,
    prefix: str = "",
) -> list[onnx.NodeProto]:
    """Copies of nodes, bodies included, with these names of values, and with a prefix to all others.

    `attributes` are those of a call, for nodes of the function that is called; what the call does not give is left out.
    Where there are none, references to the attributes of a function stay.
    """
    copies: list[onnx.NodeProto] = []
    for node in nodes:
        copy = copied(node)
        for field in (copy.input, copy.output):
            field[:] = [names[each] if each in names else (prefix + each if each else "") for each in field]
        if attributes is not None and any(each.ref_attr_name for each in node.attribute):
            del copy.attribute[:]
            for each in node.attribute:
                given = attributes.get(each.ref_attr_name) if each.ref_attr_name else each
                if given is not None:
                    copy.attribute.add().CopyFrom(given)
                    copy.attribute[-1].name = each.name
        for graph in inner_graphs(copy):
            inside = copied_nodes(graph.node, names, attributes, prefix)
            del graph.node[:]
            graph.node.extend(inside)
            sparse = (each.values for each in graph.sparse_initializer)
            for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer, *sparse):
                named.name = names[named.name] if named.name in names else prefix + named.name
        copies.append(copy)
    return copies


def replace_nodes(field: MutableSequence[onnx.NodeProto], nodes: Iterable[onnx.NodeProto]) -> None:
    """Let a graph or function have these nodes, some of which may be its own."""
    # Copies first: emptying the field frees the protos that are still in it.
    copies = [copied(each) for each in nodes]
    del field[:]
    field.extend(copies)


def take_places(model: onnx.ModelProto, copies: Mapping[FunctionKey, str]) -> None:
    """Drop the functions that only their copies are called for, and give an only copy the name of what it replaces.

    `copies` has the names of functions that are the only copy of another. What was not called before is kept, too.
    """
    called = _reached(model)
    replaced = {key: name for key, name in copies.items() if key not in called}
    names = {(domain, copy): (name, overload) for (domain, name, overload), copy in replaced.items()}
    kept: list[onnx.FunctionProto] = []
    for function in model.functions:
        key = (function.domain, function.name, function.overload)
        if key in replaced:
            continue
        own = names.get((function.domain, function.name))
        if own is not None and not function.overload:
            function.name, function.overload = own
        kept.append(copied(function))
    del model.functions[:]
    model.functions.extend(kept)
    for node in nodes_of_model(model):
        own = names.get((node.domain, node.op_type))
        if own is not None and not node.overload:
            node.op_type, node.overload = own


def _reached(model: onnx.ModelProto) -> set[FunctionKey]:
    """The functions that are called from the graph, or from functions that are."""
    functions = functions_of(model)
    start = calls_in(model.graph.node, functions)
    return reached(start, lambda key: calls_in(functions[key].node, functions))
