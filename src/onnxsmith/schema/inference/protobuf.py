"""Types, constants and attributes as the protobuf messages that onnx's own inference reads, and types back.

Imports onnx when it is first needed: `import onnxsmith` must not pay for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    Dimension,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
)

if TYPE_CHECKING:
    import onnx


def fill_type(proto: onnx.TypeProto, value_type: AnyValueType) -> None:
    """Write a type into an empty message."""
    if isinstance(value_type, TensorType):
        tensor = proto.tensor_type
        tensor.elem_type = value_type.dtype or 0
        if value_type.shape is not None:
            dimensions = tensor.shape.dim
            tensor.shape.SetInParent()
            for each in value_type.shape:
                dimension = dimensions.add()
                if isinstance(each, int):
                    dimension.dim_value = each
                elif each is not None:
                    dimension.dim_param = each
    elif isinstance(value_type, SequenceType):
        fill_type(proto.sequence_type.elem_type, value_type.element)
    elif isinstance(value_type, OptionalType):
        fill_type(proto.optional_type.elem_type, value_type.element)
    else:
        proto.map_type.key_type = int(value_type.key)
        fill_type(proto.map_type.value_type, value_type.value)


def read_type(proto: onnx.TypeProto) -> AnyValueType:
    """Read a type; what the message leaves open is unknown."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = proto.tensor_type
        dtype = DType(tensor.elem_type) if tensor.elem_type else None
        if not tensor.HasField("shape"):
            return TensorType(dtype, None)
        return TensorType(dtype, tuple(_read_dimension(each) for each in tensor.shape.dim))
    if kind == "sequence_type":
        return SequenceType(read_type(proto.sequence_type.elem_type))
    if kind == "optional_type":
        element = read_type(proto.optional_type.elem_type)
        return OptionalType(element if isinstance(element, TensorType | SequenceType) else UNKNOWN_TENSOR)
    if kind == "map_type" and proto.map_type.key_type:
        value = read_type(proto.map_type.value_type)
        return MapType(
            DType(proto.map_type.key_type), value if isinstance(value, TensorType) else UNKNOWN_TENSOR
        )
    return UNKNOWN_TENSOR


def _read_dimension(proto: onnx.TensorShapeProto.Dimension) -> Dimension:
    kind = proto.WhichOneof("value")
    if kind == "dim_value":
        # A negative size stands for an unknown one in the output of some inference functions.
        return proto.dim_value if proto.dim_value >= 0 else None
    return proto.dim_param or None if kind == "dim_param" else None


def make_type(value_type: AnyValueType) -> onnx.TypeProto:
    """A type as a message."""
    import onnx  # heavy

    proto = onnx.TypeProto()
    fill_type(proto, value_type)
    return proto


def make_tensor(array: np.ndarray[Any, np.dtype[Any]]) -> onnx.TensorProto:
    """An array as a message; raises TypeError for what is none. Of text there are str, and what models hold: bytes."""
    from onnx import numpy_helper  # heavy

    if not isinstance(array, np.ndarray | np.generic):  # pyright: ignore[reportUnnecessaryIsInstance]  # files hold anything
        raise TypeError(array)

    return numpy_helper.from_array(array.astype(object) if array.dtype.kind == "S" else array)


def make_attribute(name: str, value: Any, attribute_type: AttributeType) -> onnx.AttributeProto:
    """A normalised attribute value as a message; raises TypeError for what is no such value."""
    from onnx import helper  # heavy

    if isinstance(value, AttributeReference):
        raise TypeError(value)
    if attribute_type is AttributeType.TENSOR:
        value = make_tensor(value)
    elif attribute_type is AttributeType.TENSORS:
        value = [make_tensor(each) for each in value]
    elif attribute_type is AttributeType.TYPE_PROTO and isinstance(value, ValueType):
        value = make_type(cast(AnyValueType, value))
    elif attribute_type is AttributeType.INT:
        value = int(value)
    return helper.make_attribute(name, value, attr_type=int(attribute_type))
