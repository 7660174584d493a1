"""Our types as onnx-ir's and back; the only place that knows both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import numpy as np
import onnx

from onnxsmith.errors import InvalidModelError, MissingDependencyError
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.types.dtypes import DType, in_own_byte_order
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    MapType,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
)

#: Attributes of `Constant` that are numbers, and the element types of what they give.
CONSTANT_NUMBERS = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


def ir_dtype(dtype: DType) -> ir.DataType:
    """An element type as onnx-ir's. Raises MissingDependencyError where the installed onnx-ir does not have it yet."""
    try:
        return ir.DataType(int(dtype))
    except ValueError:
        raise MissingDependencyError(
            f"{dtype.name} needs a newer onnx-ir than the installed {ir.__version__}",
            help="pip install --upgrade onnx-ir",
        ) from None


@lru_cache(maxsize=256)
def tensor_type_to_ir(dtype: DType) -> ir.TensorType:
    """One shared object per element type: they are immutable."""
    return ir.TensorType(ir_dtype(dtype))


def shape_to_ir(shape: Shape | None) -> ir.Shape | None:
    """A shape; unknown dimensions stay unnamed."""
    return None if shape is None else ir.Shape(shape)


def type_to_ir(kind: AnyValueType) -> tuple[ir.TypeProtocol | None, ir.Shape | None]:
    """Type and shape as onnx-ir keeps them apart; the shape is that of the innermost tensor."""
    if isinstance(kind, TensorType):
        # A shape without an element type has no place in a model.
        return (
            (None, None) if kind.dtype is None else (tensor_type_to_ir(kind.dtype), shape_to_ir(kind.shape))
        )
    if isinstance(kind, MapType):
        return None, None  # onnx-ir has no maps; such a value stays untyped inside a graph
    element, shape = type_to_ir(kind.element)
    if element is None:
        return None, None
    wrapper = ir.SequenceType if isinstance(kind, SequenceType) else ir.OptionalType
    return wrapper(cast(Any, element)), shape


def type_from_ir(kind: ir.TypeProtocol | None, shape: ir.ShapeProtocol | None) -> AnyValueType:
    """The type of an onnx-ir value."""
    if isinstance(kind, ir.SequenceType):
        return SequenceType(type_from_ir(kind.elem_type, shape))
    if isinstance(kind, ir.OptionalType):
        return OptionalType(cast(Any, type_from_ir(kind.elem_type, shape)))
    if kind is None:
        return UNKNOWN_TENSOR if shape is None else TensorType(None, shape_from_ir(shape))
    code = int(kind.dtype)
    return TensorType(DType(code) if code else None, shape_from_ir(shape))


def shape_from_ir(shape: ir.ShapeProtocol | None) -> Shape | None:
    """A shape with symbolic dimensions by name."""
    if shape is None:
        return None
    # Some tools write -1 for a dimension that is not known.
    sizes = [each if isinstance(each, int) else each.value for each in cast(Any, shape)]
    return tuple(None if isinstance(each, int) and each < 0 else each for each in sizes)


def array_to_ir(array: np.ndarray[Any, Any], name: str | None = None) -> ir.TensorProtocol:
    """An array as a tensor that refers to it; nothing is copied but text."""
    dtype = DType.from_numpy(array.dtype)
    assert dtype is not None  # the call pipeline has refused everything else
    if dtype is DType.STRING:
        try:
            flat = [
                each if isinstance(each, bytes) else str(each).encode() for each in array.reshape(-1).tolist()
            ]
        except UnicodeEncodeError as error:
            raise InvalidModelError(f"the model is not valid: {error}") from None
        return ir.StringTensor(
            np.array(flat, dtype=object).reshape(array.shape), shape=ir.Shape(array.shape), name=name
        )
    return ir.Tensor(in_own_byte_order(array), dtype=ir_dtype(dtype), name=name)


def as_content(
    array: np.ndarray[Any, Any], name: str | None = None
) -> np.ndarray[Any, Any] | ir.TensorProtocol:
    """An array as the content of a value: itself if a file has its bytes as they are, else a tensor."""
    return in_own_byte_order(array) if has_plain_bytes(array) else array_to_ir(array, name)


def has_plain_bytes(array: np.ndarray[Any, Any]) -> bool:
    """True if a file has the elements of an array as numpy has them, and not packed or as text."""
    dtype = DType.from_numpy(array.dtype)
    return dtype is not None and dtype.is_native and dtype is not DType.STRING


def write_array(array: np.ndarray[Any, Any], proto: onnx.TensorProto) -> None:
    """Write an array that has plain bytes."""
    proto.data_type = int(cast(DType, DType.from_numpy(array.dtype)))
    proto.dims.extend(array.shape)
    proto.raw_data = in_own_byte_order(array).tobytes()


def proto_of_type(kind: AnyValueType) -> onnx.TypeProto:
    """Any type as a proto, also those that onnx-ir does not know."""
    result = onnx.TypeProto()
    if isinstance(kind, TensorType):
        result.tensor_type.elem_type = int(kind.dtype or 0)
        for each in kind.shape or ():
            dimension = result.tensor_type.shape.dim.add()
            if isinstance(each, int):
                dimension.dim_value = each
            elif each is not None:
                dimension.dim_param = each
        if kind.shape == ():
            result.tensor_type.shape.SetInParent()
    elif isinstance(kind, MapType):
        result.map_type.key_type = int(kind.key)
        result.map_type.value_type.CopyFrom(proto_of_type(kind.value))
    elif isinstance(kind, SequenceType):
        result.sequence_type.elem_type.CopyFrom(proto_of_type(kind.element))
    else:
        result.optional_type.elem_type.CopyFrom(proto_of_type(kind.element))
    return result


def dimensions_of(tensor: ir.TensorProtocol) -> tuple[int, ...]:
    """The dimensions of a tensor.

    onnx-ir makes a new Shape of a proto's dimensions at each request, also for the size and the bytes. That took a
    tenth of the time to decompile a model of many small constants.
    """
    if isinstance(tensor, ir.TensorProtoTensor):
        return tuple(tensor.raw.dims)
    return tuple(int(each) for each in cast(Any, tensor.shape))
