"""Gives a model one form of what has two: the name of the standard domain, and names that hide others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import onnx_ir as ir

from onnxsmith.graphs.ir_version import import_standard_domain
from onnxsmith.graphs.named_tensors import rename_value
from onnxsmith.graphs.rewriting.scopes import bodies_of, roots_of


def name_standard_domain(model: ir.Model) -> None:
    """Let the standard domain have one of its two names, under which rules are filed, and a version everywhere."""
    holders = [model, *model.functions.values()]
    if any("ai.onnx" in each.opset_imports for each in holders):
        _by_one_name(model, holders)
    import_standard_domain(model)


def _by_one_name(model: ir.Model, holders: Sequence[ir.Model | ir.Function]) -> None:
    for each in holders:
        version = each.opset_imports.pop("ai.onnx", None)
        if version is not None:
            each.opset_imports.setdefault("", version)
    for root in roots_of(model):
        for node in root.all_nodes():
            if node.domain == "ai.onnx":
                node.domain = ""


def reveal_hidden_names(root: ir.Graph, fresh_name: Callable[[str], str]) -> None:
    """Rename values of inner graphs that are called what a value around them is called.

    A change may let a node inside read what is around it, and the name would then be that of another value.
    """
    around: Counter[str] = Counter()
    # Depth-first with a stack of its own: graphs of strangers nest as deep as they please.
    waiting: list[tuple[ir.Graph, set[str] | None]] = [(root, None)]
    while waiting:
        graph, left = waiting.pop()
        if left is not None:
            around.subtract(left)
            continue
        own: set[str] = set()
        for value in _values(graph):
            if not value.name:
                continue
            if around[value.name] > 0:
                rename_value(value, fresh_name(value.name))
            own.add(value.name)
        around.update(own)
        waiting.append((graph, own))
        waiting.extend((inner, None) for node in graph for inner in bodies_of(node))


def _values(graph: ir.Graph) -> list[ir.Value]:
    return [
        *graph.inputs,
        *graph.initializers.values(),
        *(value for node in graph for value in node.outputs),
    ]
