"""The types of all values of a model: what it declares, and where that is not all, what our inference finds.

Goes on where a node cannot work: a model that is wrong is looked at to see why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import State, Walk
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.types.value_types import AnyValueType, TensorType


def value_types(model: ir.Model) -> dict[ir.Value, AnyValueType]:
    """The type of each value that more is known of than the model declares; nothing when it declares all.

    A value of a function has the types of the first call that says what it is.
    """
    if not model.functions and all(map(_is_declared, _made_values(model.graph))):
        return {}
    state = State()
    state.inside = []
    walk = _Tolerant(model.functions, model.opset_imports, {}, {}, state)
    for value in model.graph.inputs:
        walk.known[value] = Known(type_from_ir(value.type, value.shape))
    walk.graph(model.graph)
    found: dict[ir.Value, AnyValueType] = {}
    for known in (walk.known, *state.inside):
        _enter(found, known)
    return found


def _enter(found: dict[ir.Value, AnyValueType], known: Mapping[ir.Value, Known]) -> None:
    for value, each in known.items():
        held = found.get(value)
        if held is None or (isinstance(held, TensorType) and held.shape is None):
            found[value] = each.type


def _made_values(graph: ir.Graph) -> Iterator[ir.Value]:
    for node in graph.all_nodes():
        yield from node.outputs


def _is_declared(value: ir.Value) -> bool:
    return value.type is not None and value.shape is not None


class _Tolerant(Walk):
    """Knows nothing of what a node gives that inference objects to, but what the model declares."""

    def node(self, node: ir.Node) -> None:
        try:
            super().node(node)
        except (OnnxsmithError, RecursionError):  # thousands of functions, each in the one before
            for value in node.outputs:
                self.known[value] = self.completed(NOTHING, value)
