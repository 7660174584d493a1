"""Tells values that are constants of a function from weights, which every call passes."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.graphs.identity import EXACT, SMALL_BYTES
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.passes.outlining.wiring import constant_attribute

#: Shapes, axes and the like: initializers of so few integers belong to the structure, not to the weights.
_FEW = 16


def constant_of(values: Sequence[ir.Value]) -> ir.Attr | None:
    """The constant that all values are, if they are equal and small; None for weights and what is computed."""
    first = _constant(values[0])
    if first is None:
        return None
    key = (first.name, EXACT.attribute(first))
    for value in values[1:]:
        other = None if value is values[0] else _constant(value)
        if value is not values[0] and (other is None or (other.name, EXACT.attribute(other)) != key):
            return None
    return first


def _constant(value: ir.Value) -> ir.Attr | None:
    producer = value.producer()
    if producer is not None:
        attribute = constant_attribute(producer)
        return None if attribute is None or _is_large(attribute) else attribute
    tensor = value.const_value
    if tensor is None or value.is_graph_input() or WEIGHT_KEY in notes_of(value):
        return None
    if isinstance(tensor, SparseTensor):
        return None
    is_whole = tensor.dtype.is_integer() or tensor.dtype == ir.DataType.BOOL
    if len(tensor.shape) == 0 or (is_whole and len(tensor.shape) == 1 and tensor.size <= _FEW):
        return ir.AttrTensor("value", tensor)
    return None


def _is_large(attribute: ir.Attr) -> bool:
    """True if it is a weight in the form of a node: a function has no place for one beside the file."""
    return attribute.type == ir.AttributeType.TENSOR and attribute.as_tensor().nbytes > SMALL_BYTES


def is_fixed(value: ir.Value) -> bool:
    """True if a value is a weight: an initializer, a constant, or what passes one on."""
    producer = value.producer()
    if producer is None:
        return value.const_value is not None
    if producer.op_type == "Identity" and producer.inputs and producer.inputs[0] is not None:
        return producer.inputs[0].producer() is None and producer.inputs[0].const_value is not None
    return constant_attribute(producer) is not None
