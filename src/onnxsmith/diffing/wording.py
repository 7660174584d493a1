"""The words for nodes, values and functions that differ."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.inspection import Graph, Node

_LONGEST_TEXT = 200


def described_node(node: Node) -> str:
    """A node in a line: results, operator, inputs and attributes."""
    return repr(node).removeprefix(f"<node {node.address}: ").removesuffix(">")


def source_words(node: Node) -> str | None:
    """The place in the source of a node."""
    return None if node.source is None else printable(str(node.source))


def port_words(value: ir.Value) -> str:
    """Name and type of an input or output."""
    return cut(f"{value.name}: {type_words(value)}")


def type_words(value: ir.Value) -> str:
    """The type of a value."""
    return repr(type_from_ir(value.type, value.shape))


def function_words(function: Graph) -> str:
    """A function in a few words."""
    count = len(function.ir)
    return cut(f"{function.name}, {count} node{'s' * (count != 1)}")


def quoted(value: ir.Value | str | None) -> str:
    """A name in quotes."""
    if value is None:
        return "nothing"
    name = value if isinstance(value, str) else value.name or ""
    return cut(f"'{clipped(name, 60)}'")


def cut(text: str) -> str:
    """A text that a line can hold."""
    return printable(clipped(text, _LONGEST_TEXT))


def told_apart(left: ir.Value | None, right: ir.Value | None) -> str:
    """Two values that are not the same; of one name, with what makes them."""
    names = quoted(left), quoted(right)
    if left is None or right is None or names[0] != names[1]:
        return f"{names[0]} -> {names[1]}"
    made = _made_by(left), _made_by(right)
    if made[0] != made[1]:
        return cut(f"{names[0]}, {made[0]} -> {names[1]}, {made[1]}")
    return f"{names[0]} -> {names[1]}, which is made of other values"


def _made_by(value: ir.Value) -> str:
    node = value.producer()
    if node is None:
        if value.is_initializer():
            return "a weight"
        return "an input" if value.is_graph_input() else "which nothing makes"
    inputs = ", ".join("_" if each is None else each.name or "_" for each in node.inputs)
    return f"which is {node.op_type}({clipped(inputs, 60)})"
