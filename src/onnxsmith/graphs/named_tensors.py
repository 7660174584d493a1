"""Tensors that other models hold, too, under names of their own."""

from __future__ import annotations

import copy

import onnx_ir as ir

from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.rewriting.copies import copied

#: A smaller tensor is copied: what refers to it would cost more.
_SMALL_BYTES = 1024


def named_tensor(tensor: ir.TensorProtocol, name: str) -> ir.TensorProtocol:
    """A tensor with the same content, which is not copied, and a name of its own."""
    if tensor.name == name:
        return tensor
    if not isinstance(tensor, ir.TensorProtoTensor):
        result = copy.copy(tensor)
    elif tensor.dtype == ir.DataType.STRING or tensor.nbytes < _SMALL_BYTES:
        proto = copied(tensor.raw)
        result = ir.TensorProtoTensor(proto)
    else:
        shape = ir.Shape(dimensions_of(tensor))
        return ir.LazyTensor(
            lambda: tensor, dtype=tensor.dtype, shape=shape, name=name, doc_string=tensor.doc_string
        )
    result.name = name
    return result


def rename_value(value: ir.Value, name: str) -> None:
    """Give a value another name; a tensor that it holds may be another model's, too, and keeps its own there."""
    tensor = value.const_value
    value.const_value = None  # onnx-ir would rename it
    value.name = name
    value.const_value = None if tensor is None else named_tensor(tensor, name)
