"""Graphs that the nodes made for a loop have inside: their inputs, and what is made within them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt


def body_input(at: Attempt, name: str, kind: ir.DataType, *, is_number: bool = True) -> ir.Value:
    """An input of a graph: a number, or of a shape that is not said."""
    shape = ir.Shape(()) if is_number else None
    return ir.Value(name=at.edit.fresh_name(name), type=ir.TensorType(kind), shape=shape)


def body_graph(
    at: Attempt, name: str, inputs: Sequence[ir.Value], build: Callable[[], Sequence[ir.Value]]
) -> ir.Graph:
    """A graph of what `build` makes."""
    made, at.made = at.made, []
    try:
        outputs = build()
        nodes = at.made
    finally:
        at.made = made
    return ir.Graph(inputs, outputs, nodes=nodes, name=at.edit.fresh_name(name))
