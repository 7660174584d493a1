"""Types of the values in a model: those that it declares, and else those that follow from its inputs.

Inference runs once over the whole model, when the first value is asked for whose type is not declared in full. The
values of a function have the types that all its calls agree on.
"""

from __future__ import annotations

import contextlib

import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import State, Walk
from onnxsmith.graphs.held_model import Held
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.inference.completing import OwnNames
from onnxsmith.schema.inference.known import NOTHING
from onnxsmith.schema.inference.merging import Different, merge_types
from onnxsmith.types.value_types import AnyValueType, TensorType


class ValueTypes:
    """The types of the values of one model."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._inferred: dict[ir.Value, AnyValueType] | None = None

    def of(self, value: ir.Value) -> AnyValueType:
        """All that is known of the type of a value."""
        declared = self._declared(value)
        if not isinstance(declared, TensorType) or (declared.dtype and declared.shape is not None):
            return declared
        if self._inferred is None:
            self._inferred = _inferred(self._held.ir)
        found = self._inferred.get(value)
        if found is None or (isinstance(found, TensorType) and found.dtype is None and found.shape is None):
            return declared
        return found

    def _declared(self, value: ir.Value) -> AnyValueType:
        tensor = value.const_value
        if tensor is not None and value.type is None:
            return type_from_ir(ir.TensorType(tensor.dtype), tensor.shape)
        if self._held.special and value.graph is self._held.graph:
            return self._held.type_of(value)
        return type_from_ir(value.type, value.shape)


def _inferred(model: ir.Model) -> dict[ir.Value, AnyValueType]:
    state = State([])
    state.inside = []
    walk = Walk(model.functions, model.opset_imports, OwnNames(), {}, state)
    for value in model.graph.inputs:
        walk.known[value] = walk.completed(NOTHING, value)
    for value in model.graph.initializers.values():
        if value.const_value is not None:
            walk.known[value] = Weight(value.name or "", value.const_value).known
    for node in model.graph:
        with contextlib.suppress(OnnxsmithError):  # its mistake is the model's own; the others have types
            walk.node(node)
    found = {value: known.type for value, known in walk.known.items()}
    inside: dict[ir.Value, AnyValueType] = {}
    for call in state.inside:
        for value, known in call.items():
            inside[value] = _merged(inside.get(value), known.type)
    return {**found, **inside}


def _merged(before: AnyValueType | None, now: AnyValueType) -> AnyValueType:
    try:
        return now if before is None else merge_types(before, now)
    except Different:
        return NOTHING.type
