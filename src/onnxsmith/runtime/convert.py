"""Values between numpy and ONNX Runtime, where its Python interface has gaps.

What numpy has natively goes as it is. bfloat16, float8, float4, int4 and int2 travel as ONNX Runtime's own values
over the same bytes, packed where ONNX packs; byte strings become text. No session is run here.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.onnxruntime_api import OrtValue
from onnxsmith.runtime.single_node import InputType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import MapType, OptionalType, SequenceType, TensorType

#: From what a caller gives to what a session takes. The type of an input says which kind of value that is.
Converter: TypeAlias = Callable[[RunValue], "RunValue | OrtValue"]

#: numpy arrays of these are what ONNX Runtime takes and gives, without a copy.
NATIVE: frozenset[DType] = frozenset(
    dtype for dtype in DType if dtype.is_native and dtype.kind not in ("string", "complex")
)


class NoConversion(Exception):
    """ONNX Runtime cannot be given, or cannot give back, a value of this type."""


def is_exotic(value_type: InputType) -> bool:
    """True if it is a tensor that ONNX Runtime only knows as its own value."""
    dtype = element_type(value_type)
    return dtype is not None and not dtype.is_native


def element_type(value_type: InputType) -> DType | None:
    """The element type of a tensor; None for all else."""
    if isinstance(value_type, TensorType):
        return value_type.dtype
    return value_type if isinstance(value_type, DType) else None


def input_converter(value_type: InputType) -> Converter | None:
    """How to turn an input of this type into what a session takes; None when it goes as it is."""
    dtype = element_type(value_type)
    if dtype is not None:
        if dtype is DType.STRING:
            return cast(Converter, to_text)
        if dtype.kind == "complex":
            raise NoConversion(f"ONNX Runtime has no {dtype.spelling} tensors")
        return None if dtype.is_native else _exotic_converter(dtype)
    match value_type:
        case SequenceType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot be given a {value_type.described}")
            convert = input_converter(element)
            return None if convert is None else _each_converter(convert)
        case OptionalType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot be given an {value_type.described}")
            convert = input_converter(element)
            return None if convert is None else lambda value: None if value is None else convert(value)
        case MapType():
            return None
        case _:
            return None


def _each_converter(convert: Converter) -> Converter:
    def converted(values: list[RunValue]) -> list[RunValue]:
        return [cast(RunValue, convert(each)) for each in values]

    return cast(Converter, converted)


def check_output(value_type: InputType) -> None:
    """Refuse what a session cannot give back: containers of tensors that numpy does not have."""
    match value_type:
        case SequenceType(element=element) | OptionalType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot give back a {value_type.described}")
            check_output(element)
        case _:
            pass


def to_text(array: Array) -> Array:
    """A string array as ONNX Runtime reads it: an object array of str. It misreads numpy's byte strings."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8").astype(object)
    if array.dtype.kind != "O":
        return array.astype(object)
    if any(type(each) is not str for each in array.flat):
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in array.flat]
        fresh = np.empty(array.shape, object)
        fresh.reshape(-1)[:] = texts
        return fresh
    return array


def _exotic_converter(dtype: DType) -> Converter:
    if dtype.bits >= 8:
        storage = np.uint16 if dtype.bits == 16 else np.uint8

        def over_bytes(array: Array) -> OrtValue:
            if array.size == 0:
                return onnxruntime_api.empty_value(array.shape, dtype)
            return onnxruntime_api.value_over(
                np.ascontiguousarray(array).view(storage).reshape(array.shape), dtype
            )

        return cast(Converter, over_bytes)

    def packed(array: Array) -> OrtValue:
        value = onnxruntime_api.empty_value(array.shape, dtype)
        content = pack(array, dtype.bits).tobytes()
        ctypes.memmove(value.data_ptr(), content, len(content))
        return value

    return cast(Converter, packed)


def pack(array: Array, bits: int) -> NDArray[np.uint8]:
    """Elements of less than a byte side by side, the first in the lowest bits, as ONNX stores them."""
    per_byte = 8 // bits
    elements = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-elements.size // per_byte) * per_byte, np.uint8)
    padded[: elements.size] = elements
    groups = padded.reshape(-1, per_byte) << np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(groups, axis=1).astype(np.uint8)


def unpack(content: bytes, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The reverse of `pack`."""
    bits = dtype.bits
    groups = np.frombuffer(content, np.uint8)[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)
    elements = (groups & ((1 << bits) - 1)).reshape(-1)[: int(np.prod(shape))]
    if dtype.kind == "signed":
        sign = 1 << (bits - 1)
        return ((elements ^ sign).astype(np.int8) - sign).astype(dtype.numpy).reshape(shape)
    if dtype.kind == "unsigned":
        return elements.astype(dtype.numpy).reshape(shape)
    return elements.view(dtype.numpy).reshape(shape)


def from_value(value: OrtValue) -> RunValue:
    """A numpy array, or list of arrays, from one of ONNX Runtime's own values."""
    if not value.has_value():
        return None
    if not value.is_tensor():
        return value.numpy()
    dtype = DType(value.element_type())
    if dtype.is_native:
        return value.numpy()
    shape = tuple(value.shape())
    # The value says its size itself, but not before ONNX Runtime 1.23.
    size = (math.prod(shape) * dtype.bits + 7) // 8
    content = ctypes.string_at(value.data_ptr(), size) if size else b""
    if dtype.bits < 8:
        return unpack(content, dtype, shape)
    # A bytearray makes the result writable, as numpy's own results are.
    return np.frombuffer(bytearray(content), dtype.numpy).reshape(shape)
