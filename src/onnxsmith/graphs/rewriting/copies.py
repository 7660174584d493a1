"""Copies of functions that take the place of what they were copied from, once nothing calls that any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx

from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    all_nodes,
    function_key,
    functions_of,
    nodes_of_model,
)


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
        kept.append(onnx.FunctionProto.FromString(function.SerializeToString()))
    del model.functions[:]
    model.functions.extend(kept)
    for node in nodes_of_model(model):
        own = names.get((node.domain, node.op_type))
        if own is not None and not node.overload:
            node.op_type, node.overload = own


def _reached(model: onnx.ModelProto) -> set[FunctionKey]:
    """The functions that are called from the graph, or from functions that are."""
    functions = functions_of(model)
    found: set[FunctionKey] = set()
    waiting: list[Iterable[onnx.NodeProto]] = [model.graph.node]
    while waiting:
        for node in all_nodes(waiting.pop()):
            key = function_key(node)
            if key in functions and key not in found:
                found.add(key)
                waiting.append(functions[key].node)
    return found
