"""The content of a model, as onnx-ir has it: the one way to read models with maps or sparse weights, too.

onnx-ir has no place for those. They come with stand-ins, and the types of maps are kept beside the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from onnxsmith.graphs import beyond, raw
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model import Model
from onnxsmith.types.value_types import AnyValueType


@dataclass(slots=True)
class ModelContent:
    """A model as onnx-ir has it, with the types that onnx-ir does not know, by the names of the values."""

    ir: ir.Model
    special: dict[str, AnyValueType] = field(default_factory=dict[str, AnyValueType])

    @property
    def graph(self) -> ir.Graph:
        """The outermost graph."""
        return self.ir.graph

    def type_of(self, value: ir.Value) -> AnyValueType:
        """The type that a value of the outermost graph is declared to have."""
        return self.special.get(value.name or "") or type_from_ir(value.type, value.shape)

    def copy(self) -> ModelContent:
        """The same to be changed; the tensors are not copied."""
        return ModelContent(self.ir.clone(), dict(self.special))


def read(model: Model) -> ModelContent:
    """The content of a model. It is the model's own, and not to be changed."""
    if not model.is_proto_only:
        return ModelContent(model.ir)
    proto = model.proto
    held, special = beyond.from_proto(proto, "the model")
    inside = {
        each.name: raw.read_type(each.type) for each in proto.graph.value_info if raw.has_map(each.type)
    }
    return ModelContent(held, {**inside, **special})
