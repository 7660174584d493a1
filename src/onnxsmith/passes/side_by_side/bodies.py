"""Nodes that are made for a loop: choices, and graphs with their inputs and what is made within them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.values import made_by

_TRUTHS = (
    "And",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "IsInf",
    "IsNaN",
    "Less",
    "LessOrEqual",
    "Not",
    "Or",
    "Xor",
)


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
    except BaseException:
        at.edit.discard(at.made)  # no node has them
        raise
    finally:
        at.made = made
    return ir.Graph(inputs, outputs, nodes=nodes, name=at.edit.fresh_name(name))


def chosen_value(at: Attempt, condition: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
    """One of two values, element by element; ONNX Runtime has no `Where` of truth values."""
    if not _is_truth(one) and not _is_truth(other):
        return at.op("Where", condition, one, other)
    return at.op("Or", at.op("And", condition, one), at.op("And", at.op("Not", condition), other))


def _is_truth(value: ir.Value) -> bool:
    """True if a value holds truth values; nodes that have just been made have no types yet."""
    return value.dtype == ir.DataType.BOOL or made_by(value, *_TRUTHS) is not None
