"""Functions in other forms than graphs record them in: as a file has them, as onnx-ir, or dissolved into calls."""

from __future__ import annotations

from typing import TypeAlias

import onnx

from onnxsmith.graphs.function import FunctionBody, self_contained
from onnxsmith.graphs.ir_maker import model_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import ModelRecord

#: A function that somebody else made.
GivenFunction: TypeAlias = "onnx.FunctionProto | ir.Function"


def as_function(given: GivenFunction | FunctionBody) -> ir.Function:
    """A function that a model can carry; one of a graph has its weights inside."""
    if isinstance(given, FunctionBody):
        return self_contained(given)
    return ir.serde.deserialize_function(given) if isinstance(given, onnx.FunctionProto) else given


def as_proto(body: FunctionBody) -> onnx.FunctionProto:
    """A function of a graph as a file has it, with its weights inside."""
    return ir.serde.serialize_function(self_contained(body))


def dissolved(model: ModelRecord) -> ir.Model:
    """A model with the nodes of functions in the places of their calls."""
    import onnx_ir.passes.common as passes  # heavy: only where functions are inlined

    return passes.InlinePass()(model_to_ir(model)).model
