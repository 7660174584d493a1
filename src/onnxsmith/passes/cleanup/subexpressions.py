"""Common subexpressions: nodes of one operator with the same inputs and attributes are one node."""

from __future__ import annotations

from collections.abc import Hashable

import onnx_ir as ir

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.identity import value_number
from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import redirect


def share_nodes(edit: Editor) -> int:
    """Let equal nodes be one, each in its own graph; inner graphs see what was computed around them."""
    count = 0
    for root in edit.roots():
        count += _share(edit, root, [])
    edit.sweep()
    return count


def _share(edit: Editor, root: ir.Graph, outer: list[dict[Hashable, ir.Node]]) -> int:
    count = 0
    # Depth-first with a stack of its own: graphs of strangers nest as deep as they please.
    stack = [(iter(list(root)), [*outer, dict[Hashable, ir.Node]()])]
    while stack and not edit.is_spent:
        nodes, scopes = stack[-1]
        node = next(nodes, None)
        if node is None:
            stack.pop()
            continue
        key = value_number(node)
        if key is None:
            stack += [(iter(list(graph)), [*scopes, dict[Hashable, ir.Node]()]) for graph in bodies_of(node)]
            continue
        first = next((scope[key] for scope in scopes if key in scope), None)
        if first is None or len(first.outputs) != len(node.outputs):
            scopes[-1][key] = node
            continue
        if any(each.is_graph_output() for each in node.outputs):
            continue  # it is an output of its own
        for old, new in zip(node.outputs, first.outputs, strict=True):
            redirect(old, new)
        removed = tuple(edit.remove([node]).notes)
        edit.log.add(Edit(edit.pass_name, "common subexpression", removed, (), first.outputs[0].name))
        count += 1
    return count
