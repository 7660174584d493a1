"""A model retold for a runtime that stops at an earlier opset.

Its operators get definitions that mean the same, and those without one are replaced by their function bodies; where
neither is there, the model cannot be retold. Which opset a runtime stops at is told by whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

import onnx

from onnxsmith.graphs.rewriting.rewrite import rewrite
from onnxsmith.graphs.rewriting.scopes import all_nodes, operators_of
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import guarded
from onnxsmith.runtime.equivalents import earliest_same
from onnxsmith.runtime.function_body import inlined_model
from onnxsmith.schema import registry
from onnxsmith.schema.inference.signature import parameter_at


def retold(
    model: onnx.ModelProto, newest: int | None, lacking: Set[str] = frozenset()
) -> onnx.ModelProto | None:
    """The model with no opset version of the standard domain past `newest`; None when it cannot be told so.

    `lacking` are operators that the runtime has no kernel for; they are replaced by their function bodies, too.
    """
    replaced = lacking | (set[str]() if newest is None else _missing(model, newest))
    if replaced:
        model = inlined_model(guarded(model, onnxruntime_api.version(), replaced), replaced)
    else:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        model = copy
    if newest is None:
        return model
    if _missing(model, newest):
        return None
    for imports, _ in _scopes(model):
        for entry in imports:
            if entry.domain in ("", "ai.onnx") and entry.version > newest:
                entry.version = newest
    return model


def _missing(model: onnx.ModelProto, newest: int) -> set[str]:
    """The operators for which no version up to `newest` means the same."""
    local = {(function.domain, function.name) for function in model.functions}
    missing: set[str] = set()
    for imports, nodes in _scopes(model):
        version = next((entry.version for entry in imports if entry.domain in ("", "ai.onnx")), 1)
        if version <= newest:
            continue
        for node in nodes:
            if node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in local:
                continue
            op = registry.find("", node.op_type, version)
            if op is None or earliest_same(op, {attribute.name for attribute in node.attribute}) > newest:
                missing.add(node.op_type)
    return missing


def _scopes(
    model: onnx.ModelProto,
) -> Iterator[tuple[Iterable[onnx.OperatorSetIdProto], Iterable[onnx.NodeProto]]]:
    """The graph and each function, with the opsets they import and all their nodes."""
    yield model.opset_import, all_nodes(model.graph.node)
    for function in model.functions:
        yield function.opset_import, all_nodes(function.node)


def operators_on_other_types(model: onnx.ModelProto) -> set[str]:
    """The standard operators that are used on element types which their definitions do not allow.

    An earlier definition often allows fewer. A runtime refuses such a node; but a fact that is met in its place would
    be met in vain, or in the wrong type.
    """
    found: set[str] = set()

    def look(site: Site) -> list[tuple[str, str]]:
        op = registry.find("", site.node.op_type, site.version)
        for position in range(len(site.node.input) if op is not None and op.inputs else 0):
            dtype = site.dtype(position)
            parameter = None if op is None else parameter_at(op.inputs, position)
            if dtype is None or parameter is None or not parameter.types:
                continue
            if f"tensor({dtype.onnx_name})" not in parameter.types:
                found.add(site.node.op_type)
        return []

    rewrite(model, {operator: look for operator in operators_of(model) if not operator[0]})
    return found
