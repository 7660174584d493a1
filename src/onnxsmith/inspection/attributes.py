"""Attributes of nodes as plain Python values."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.diagnostics import clipped
from onnxsmith.graphs.elements import Elements, read_only
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.types.value_types import AnyValueType

#: What an attribute without a graph in it is in Python.
PlainAttribute: TypeAlias = (
    int
    | float
    | str
    | Elements
    | AttributeReference
    | AnyValueType
    | tuple[int | float | str | Elements | AnyValueType, ...]
)

#: Tensors with more elements than this are shown by their type.
_SHOWN_ELEMENTS = 8
_LONGEST_TEXT = 60


def plain_attribute(attribute: ir.Attr) -> PlainAttribute:
    """The value of an attribute that holds no graph.

    Tensors are arrays that are not to be changed, types are ours; an attribute of a function that is handed on is an
    `AttributeReference`.
    """
    if attribute.is_ref():
        return AttributeReference(attribute.ref_attr_name or "", AttributeType(int(attribute.type)))
    value: Any = attribute.value
    match attribute.type:
        case ir.AttributeType.INT:
            return int(value)
        case ir.AttributeType.FLOAT:
            return float(value)
        case ir.AttributeType.TENSOR:
            return read_only(cast(ir.TensorProtocol, value))
        case ir.AttributeType.TENSORS:
            return tuple(read_only(each) for each in cast("tuple[ir.TensorProtocol, ...]", value))
        case ir.AttributeType.SPARSE_TENSOR:
            return read_only(SparseTensor(cast(onnx.SparseTensorProto, value)))
        case ir.AttributeType.TYPE_PROTO:
            return type_from_ir(value.type, value.shape)
        case ir.AttributeType.TYPE_PROTOS:
            return tuple(type_from_ir(each.type, each.shape) for each in value)
        case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
            return tuple(value)
        case _:
            return str(value)


def shown_attribute(attribute: ir.Attr) -> str:
    """An attribute in a few words, without reading a large tensor."""
    if attribute.is_ref():
        return f"@{attribute.ref_attr_name}"
    if attribute.value is None:  # a parameter of a function
        return "no default"
    if attribute.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS):
        return "{…}"
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = cast(ir.TensorProtocol, attribute.value)
        if tensor.size > _SHOWN_ELEMENTS:
            return repr(type_from_ir(ir.TensorType(tensor.dtype), tensor.shape))
        return str(read_only(tensor).tolist())
    value = plain_attribute(attribute)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return clipped(str(list(value)) if isinstance(value, tuple) else repr(value), _LONGEST_TEXT)
