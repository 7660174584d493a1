"""Checks that tensors of a stranger's model hold as many elements as they declare. Reads no element."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import TensorProto

from onnxsmith.errors import UnreadableModelError
from onnxsmith.types.dtypes import DType

#: numpy's arrays have no more dimensions.
MOST_DIMENSIONS = 64
#: No array has more bytes; numpy counts a size of 0 as 1 here.
_MOST_BYTES = (1 << 63) - 1
_KNOWN_TYPES = frozenset(int(each) for each in DType)
#: The field of a tensor that holds elements of a type; `int32_data` for all others.
_FIELDS: dict[int, str] = {
    TensorProto.FLOAT: "float_data",
    TensorProto.COMPLEX64: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.COMPLEX128: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.STRING: "string_data",
}


def check_tensor(tensor: TensorProto, called: str) -> None:
    """Refuse a tensor whose sizes no array has, or that holds more or fewer elements than its sizes say."""
    dims, dtype = tensor.dims, tensor.data_type
    if dtype not in _KNOWN_TYPES:
        return  # whoever reads the names of a model refuses it
    bits = 64 if dtype == TensorProto.STRING else DType(dtype).bits
    if len(dims) > MOST_DIMENSIONS:
        raise _refused(tensor, f"has {len(dims)} dimensions, and arrays have up to {MOST_DIMENSIONS}", called)
    if min(dims, default=0) < 0:
        raise _refused(tensor, f"has a negative size, {min(dims)}", called)
    if math.prod(each or 1 for each in dims) * bits > _MOST_BYTES * 8:
        raise _refused(tensor, f"has the shape {list(dims)}, and no array is that large", called)
    if tensor.data_location == TensorProto.EXTERNAL:
        return  # what is in the file is known when it is mapped
    count = math.prod(dims)
    if tensor.HasField("raw_data") and dtype != TensorProto.STRING:
        held, wanted = len(tensor.raw_data), math.ceil(count * bits / 8)
        if held != wanted:
            raise _refused(tensor, f"of shape {list(dims)} has {held} bytes, and takes {wanted}", called)
        return
    held = len(getattr(tensor, _FIELDS.get(dtype, "int32_data")))
    if held not in _entries(count, dtype, bits):
        raise _refused(tensor, f"of shape {list(dims)} has {held} elements, and takes {count}", called)


def check_sparse(sparse: onnx.SparseTensorProto, called: str) -> None:
    """Refuse a sparse tensor that puts elements where it has no place, or not as many as it has."""
    for part in (sparse.values, sparse.indices):
        check_tensor(part, called)
    indices = onnx.numpy_helper.to_array(sparse.indices)
    sizes = np.array(sparse.dims if indices.ndim == 2 else [math.prod(sparse.dims)], dtype=object)
    is_whole = indices.ndim in (1, 2) and len(indices) == math.prod(sparse.values.dims)
    rows = indices.reshape(len(indices), -1)
    if not is_whole or rows.shape[1:] != sizes.shape[: rows.ndim - 1] or min(sparse.dims, default=0) < 0:
        raise _refused(sparse.values, f"of shape {list(sparse.dims)} has indices that do not fit", called)
    if rows.size and (rows.min() < 0 or any(rows.max(axis=0).astype(object) >= sizes)):
        raise _refused(sparse.values, f"of shape {list(sparse.dims)} has an element outside of it", called)


def _entries(count: int, dtype: int, bits: int) -> tuple[int, ...]:
    """How many entries the fields of a tensor have for so many elements."""
    if dtype in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return (2 * count,)
    # Elements of a few bits are packed, several in a byte; some writers give each an entry of its own.
    return (math.ceil(count * bits / 8), count) if bits < 8 else (count,)


def _refused(tensor: TensorProto, why: str, called: str) -> UnreadableModelError:
    name = f"the tensor {tensor.name[:100]!r}" if tensor.name else "a tensor"
    return UnreadableModelError(
        f"{called} is not a valid ONNX model: {name} {why}", help="get the file again, whole"
    )
