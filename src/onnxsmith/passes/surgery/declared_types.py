"""Types of values that are to be inputs or outputs: those that the model declares, and else those that it implies."""

from __future__ import annotations

import contextlib

import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import State, Walk
from onnxsmith.passes.surgery.dimensions import dimension_texts
from onnxsmith.passes.surgery.holding import ModelContent
from onnxsmith.schema.inference.broadcasting import is_complete
from onnxsmith.types.value_types import AnyValueType


class DeclaredTypes:
    """The types of the values of a model; inference runs once, when a value is asked for that has none."""

    def __init__(self, held: ModelContent) -> None:
        self._held = held
        self._walk: Walk | None = None

    def of(self, value: ir.Value) -> AnyValueType:
        """All that is known of the type of a value of the outermost graph."""
        declared = self._held.type_of(value)
        if is_complete(declared):
            return declared
        if self._walk is None:
            self._walk = walked(self._held)
        return self._walk.of(value).type


def walked(held: ModelContent) -> Walk:
    """Our inference over the nodes of a model, as far as it comes; names of dimensions stay what they are."""
    walk = new_walk(held)
    with contextlib.suppress(OnnxsmithError):  # what cannot work is the model's own mistake
        walk.graph(held.graph)
    return walk


def new_walk(held: ModelContent) -> Walk:
    """Inference that reads the model's names of dimensions as they are, before its first node."""
    names = {name: name for name in dimension_texts(held)}
    return Walk(held.ir.functions, held.ir.opset_imports, names, {}, State())
