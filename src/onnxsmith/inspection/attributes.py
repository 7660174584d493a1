"""Attributes of nodes as plain Python values."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.graphs.files import described_cause
from onnxsmith.graphs.ir_types import dimensions_of, type_from_ir
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.types.value_types import AnyValueType

#: The elements of a tensor, of any type and shape.
Elements: TypeAlias = np.ndarray[Any, np.dtype[Any]]
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


def exact_attribute(attribute: ir.Attr) -> str:
    """A text that is equal for attributes of one value: floats as ONNX stores them, elements all of them.

    A model that was made and not saved yet may hold a float of Python, which has more digits than a file.
    """
    if attribute.value is None and not attribute.is_ref():  # a parameter of a function without a default
        return ""
    value = plain_attribute(attribute)
    if attribute.type in (ir.AttributeType.FLOAT, ir.AttributeType.FLOATS) and not attribute.is_ref():
        with np.errstate(over="ignore"):
            return repr(np.asarray(value, np.float64).astype(np.float32).tolist())
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tolist()!r}"
    return repr(value)


def read_only(tensor: ir.TensorProtocol) -> Elements:
    """The elements of a tensor, from where they lie if they lie there as in memory; they cannot be changed.

    A stranger's tensor may hold other data than its type and shape say: that is refused.
    """
    try:
        array = _text(tensor) if tensor.dtype == ir.DataType.STRING else np.asarray(tensor.numpy())[...]
    except OnnxsmithError:
        raise
    except Exception as error:  # numpy and onnx-ir raise unrelated classes
        called = printable(clipped(tensor.name or "", _LONGEST_TEXT))
        kind = clipped(f"{tensor.dtype.name}{list(dimensions_of(tensor))}", _LONGEST_TEXT)
        raise InvalidModelError(
            f"the model is not valid: the elements of the tensor '{called}', {kind}, cannot be read:"
            f" {described_cause(error)}",
            help="get the file again, whole",
        ) from None
    array = array.view() if array.flags.writeable else array
    array.flags.writeable = False
    return array


def _text(tensor: ir.TensorProtocol) -> Elements:
    """Strings as Python has them; bytes that are no UTF-8 keep their values as surrogate escapes."""
    held = np.asarray(tensor.numpy())
    texts = [
        each.decode("utf-8", "surrogateescape") if isinstance(each, bytes) else str(each)
        for each in held.flat
    ]
    result = np.empty(len(texts), object)
    result[:] = texts
    return result.reshape(dimensions_of(tensor))


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
