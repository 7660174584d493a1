"""Attribute values in normal form as onnx-ir's attributes, and back."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx

from onnxsmith.core.value import Array
from onnxsmith.graphs.ir_types import array_to_ir, type_from_ir, type_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import AttributeContent
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.types.value_types import AnyValueType, ValueType


def typed_attribute(kind: AttributeType, name: str, value: AttributeContent) -> ir.Attr:
    """An attribute of a known type; a graph in it is onnx-ir's, or a proto."""
    if isinstance(value, AttributeReference):
        return ir.RefAttr(name, value.name, ir.AttributeType(int(kind)))
    return ir.Attr(name, ir.AttributeType(int(kind)), _convert(kind, value))


def content_of_attribute(attribute: ir.Attr) -> Any:
    """The value of an attribute in normal form, as the call pipeline takes it; graphs are onnx-ir's."""
    value = attribute.value
    match attribute.type:
        case ir.AttributeType.TENSOR:
            return Weight(attribute.name, value)
        case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
            return tuple(value)
        case ir.AttributeType.TYPE_PROTO:
            return type_from_ir(value.type, value.shape)
        case _:
            return value


def _convert(kind: AttributeType, value: Any) -> Any:
    match kind:
        case AttributeType.STRING:
            return _text(value)
        case AttributeType.STRINGS:
            return tuple(_text(each) for each in value)
        case AttributeType.TENSOR:
            return _tensor(value)
        case AttributeType.TENSORS:
            return tuple(_tensor(each) for each in value)
        case AttributeType.GRAPH:
            return _graph(value)
        case AttributeType.GRAPHS:
            return tuple(_graph(each) for each in value)
        case AttributeType.TYPE_PROTO:
            return _type(value)
        case AttributeType.TYPE_PROTOS:
            return tuple(_type(each) for each in value)
        case _:
            return value


def _tensor(value: Weight | Array) -> ir.TensorProtocol:
    return value.tensor if isinstance(value, Weight) else array_to_ir(np.asarray(value))


def _text(value: str | bytes) -> str:
    # onnx-ir keeps strings; bytes that are no UTF-8 survive through the error handler that encodes them back.
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def _graph(value: ir.Graph | onnx.GraphProto) -> ir.Graph:
    if isinstance(value, onnx.GraphProto):
        return ir.serde.deserialize_graph(value)
    return value


def _type(value: ValueType | onnx.TypeProto) -> ir.TypeAndShape:
    if isinstance(value, ValueType):
        return ir.TypeAndShape(*type_to_ir(cast(AnyValueType, value)))
    return ir.TypeAndShape(
        ir.serde.deserialize_type_proto_for_type(value), ir.serde.deserialize_type_proto_for_shape(value)
    )
