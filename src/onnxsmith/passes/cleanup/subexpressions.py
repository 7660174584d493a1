"""Common subexpressions: nodes of one operator with the same inputs and attributes are one node."""

from __future__ import annotations

from collections.abc import Hashable

import onnx_ir as ir

from onnxsmith.graphs.edits import Edit
from onnxsmith.passes.cleanup.constants import content_key
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import has_graphs, inner_graphs, is_random


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
        if has_graphs(node):
            inner = [
                (iter(list(graph)), [*scopes, dict[Hashable, ir.Node]()]) for graph in inner_graphs(node)
            ]
            stack.extend(inner)
            continue
        key = _key(node)
        if key is None:
            continue
        first = next((scope[key] for scope in scopes if key in scope), None)
        if first is None or len(first.outputs) != len(node.outputs):
            scopes[-1][key] = node
            continue
        if any(each.is_graph_output() for each in node.outputs):
            continue  # it is an output of its own
        for old, new in zip(node.outputs, first.outputs, strict=True):
            for use in old.uses():
                use.node.replace_input_with(use.idx, new)
        removed = tuple(edit.remove([node]).notes)
        edit.log.add(Edit(edit.pass_name, "common subexpression", removed, (), first.outputs[0].name))
        count += 1
    return count


def _key(node: ir.Node) -> Hashable | None:
    """The key that two equal nodes share; None for nodes that are equal to none."""
    if is_random(node) or not node.outputs or (not node.inputs and node.op_type != "Constant"):
        return None
    if node.domain not in ("", "ai.onnx.ml"):
        return None  # nobody knows whether it gives the same twice
    attributes: list[Hashable] = []
    for name, attribute in sorted(node.attributes.items()):
        content = _content(attribute)
        if content is None:
            return None
        attributes.append((name, content))
    return (
        node.domain,
        node.op_type,
        tuple([id(each) for each in node.inputs]),
        tuple([bool(each.name) for each in node.outputs]),
        tuple(attributes),
    )


def _content(attribute: ir.Attr) -> Hashable | None:
    if attribute.is_ref():
        return ("reference", attribute.ref_attr_name)
    match attribute.type:
        case ir.AttributeType.TENSOR:
            return content_key(attribute.as_tensor())
        case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
            return (attribute.type, repr(tuple(attribute.value)))  # tells 0.0 from -0.0, which are equal
        case ir.AttributeType.INT | ir.AttributeType.FLOAT | ir.AttributeType.STRING:
            return (attribute.type, repr(attribute.value))
        case _:
            return None
