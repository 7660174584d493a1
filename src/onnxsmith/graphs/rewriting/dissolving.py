"""A model without functions: the nodes of each stand in the place of its calls.

For engines that do less with a function than with its nodes. What operators are in terms of others is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence

import onnx
from onnx import helper

from onnxsmith.graphs.function_bodies import body_of
from onnxsmith.graphs.rewriting.copies import copied, replace_nodes
from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    all_nodes,
    calls_in,
    function_key,
    functions_of,
    inner_graphs,
    opset_versions,
    plain_domain,
    value_names,
)
from onnxsmith.graphs.rewriting.unfolding import callees_first, is_past_measure


def without_functions(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model with the nodes of its functions in the place of their calls.

    None where it has none, where its functions are of other opsets than it is, and where they would become too many
    nodes.
    """
    functions = functions_of(model)
    calls = {key: list(calls_in(function.node, functions)) for key, function in functions.items()}
    order = callees_first(calls)
    if not functions or order is None or is_past_measure(model):
        return None
    versions = _joined_versions(model)
    if versions is None:
        return None
    result = copied(model)
    flat: dict[FunctionKey, onnx.FunctionProto] = {}
    places = _Places(_unused_prefix(model))
    for key in order:
        copy = copied(functions[key])
        places.fill(copy.node, flat)
        flat[key] = copy
    places.fill(result.graph.node, flat)
    del result.functions[:]
    del result.opset_import[:]
    result.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions.items())
    return result


def _joined_versions(model: onnx.ModelProto) -> dict[str, int] | None:
    """The opsets of the model and its functions, but for those of functions alone; None where two differ."""
    versions = opset_versions(model.opset_import)
    for function in model.functions:
        for domain, version in opset_versions(function.opset_import).items():
            if versions.setdefault(domain, version) != version:
                return None
    functions = functions_of(model)
    used = {
        plain_domain(node.domain)
        for nodes in (model.graph.node, *(each.node for each in model.functions))
        for node in all_nodes(nodes)
        if function_key(node) not in functions
    }
    return {domain: version for domain, version in versions.items() if not domain or domain in used}


def _unused_prefix(model: onnx.ModelProto) -> str:
    """A prefix that no name of a value begins with."""
    names = list(value_names(model))
    prefix = "inlined"
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    return prefix


class _Places:
    """Puts functions, which call no others any more, in the place of their calls."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0

    def fill(
        self,
        nodes: MutableSequence[onnx.NodeProto],
        functions: Mapping[FunctionKey, onnx.FunctionProto],
    ) -> None:
        """Replace the calls among these nodes, and in their bodies, where they stand."""
        made: list[onnx.NodeProto] = []
        is_changed = False
        for node in nodes:
            for graph in inner_graphs(node):
                self.fill(graph.node, functions)
            function = functions.get(function_key(node))
            if function is None:
                made.append(node)
            else:
                is_changed = True
                self._count += 1
                made += body_of(node, function, None, f"{self._prefix}{self._count}_")
        if is_changed:
            replace_nodes(nodes, made)
