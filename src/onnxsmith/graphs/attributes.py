"""Attribute values in normal form as onnx-ir's attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.graphs.body import Body
from onnxsmith.graphs.ir_types import array_to_ir, type_to_ir
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.attributes import attribute_type_of
from onnxsmith.schema.definition import AttributeReference, AttributeType, OperatorDef
from onnxsmith.types.value_types import ValueType


def attribute_to_ir(op: OperatorDef, name: str, value: Any) -> ir.Attr:
    """One attribute of a node."""
    formal = op.attributes.get(name)
    return typed_attribute(formal.type if formal is not None else attribute_type_of(value), name, value)


def typed_attribute(kind: AttributeType, name: str, value: Any) -> ir.Attr:
    """An attribute of a known type."""
    if isinstance(value, AttributeReference):
        return ir.RefAttr(name, value.name, ir.AttributeType(int(kind)))
    return ir.Attr(name, ir.AttributeType(int(kind)), _convert(kind, value))


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


def _tensor(value: Any) -> ir.TensorProtocol:
    return value.tensor if isinstance(value, Weight) else array_to_ir(np.asarray(value))


def _text(value: str | bytes) -> str:
    # onnx-ir keeps strings; bytes that are no UTF-8 survive through the error handler that encodes them back.
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def _graph(value: Any) -> ir.Graph:
    if isinstance(value, Body):
        return value.graph
    if isinstance(value, onnx.GraphProto):
        return ir.serde.deserialize_graph(value)
    return value


def _type(value: Any) -> ir.TypeAndShape:
    if isinstance(value, ValueType):
        kind, shape = type_to_ir(value)  # type: ignore[arg-type]
        return ir.TypeAndShape(kind, shape)
    return ir.serde.deserialize_type_proto_for_type(value), ir.serde.deserialize_type_proto_for_shape(value)  # type: ignore[return-value]
