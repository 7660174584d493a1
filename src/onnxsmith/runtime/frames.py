"""Messages between a process and its child: a header in JSON, and the bytes of arrays behind it.

What the other side writes is data: nothing is unpickled, element types come from our own table, and a size is checked
before memory is taken for it. What a message means is not known here.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.types.dtypes import DType

_MAGIC = b"smith\x01"
_LENGTHS = struct.Struct("<QI")
#: Longer headers are no headers of ours: names and shapes, and the text of string tensors.
_LONGEST_HEADER = 1 << 30

#: What JSON holds.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class FrameError(Exception):
    """The bytes that were read are no message, or the other side ended before its end."""


class Message(NamedTuple):
    """A header, and the buffers that it speaks of."""

    header: dict[str, Json]
    buffers: Sequence[memoryview]


def pieces(header: Mapping[str, Json], buffers: Sequence[memoryview]) -> Iterator[bytes | memoryview]:
    """A message as it goes through a pipe; the buffers are not copied."""
    text = json.dumps(header).encode()
    yield _MAGIC + _LENGTHS.pack(len(text), len(buffers))
    yield struct.pack(f"<{len(buffers)}Q", *(each.nbytes for each in buffers))
    yield text
    yield from buffers


def read(file: BinaryIO) -> Message | None:
    """The next message; None where there is no more."""
    start = file.read(len(_MAGIC) + _LENGTHS.size)
    if not start:
        return None
    if len(start) < len(_MAGIC) + _LENGTHS.size or not start.startswith(_MAGIC):
        raise FrameError("this is no message")
    length, count = _LENGTHS.unpack(start[len(_MAGIC) :])
    if length > _LONGEST_HEADER or count > _LONGEST_HEADER // 8:
        raise FrameError("the header is too long")
    sizes = struct.unpack(f"<{count}Q", _exactly(file, 8 * count))
    try:
        header = json.loads(bytes(_exactly(file, length)))
    except (ValueError, RecursionError):
        raise FrameError("the header is no JSON") from None
    if not isinstance(header, dict):
        raise FrameError("the header is no object")
    return Message(cast("dict[str, Json]", header), [_exactly(file, each) for each in sizes])


def _exactly(file: BinaryIO, size: int) -> memoryview:
    try:
        buffer = memoryview(bytearray(size))
    except (MemoryError, OverflowError):
        raise FrameError("more is announced than fits into memory") from None
    filled = 0
    while filled < size:
        more = cast("int | None", cast(Any, file).readinto(buffer[filled:]))
        if not more:
            raise FrameError("it ended within a message")
        filled += more
    return buffer


# What runs give and take: arrays, lists of them (sequences), dicts (maps), None (optionals), and scalars within maps.


def encode(value: object, buffers: list[memoryview]) -> Json:
    """A value as JSON; arrays go to `buffers`, without a copy where they are contiguous."""
    if isinstance(value, np.ndarray):
        return _encode_array(cast("Array", value), buffers)
    if isinstance(value, np.generic):
        scalar = cast("np.generic[Any]", value)
        return {"scalar": _encode_array(np.asarray(scalar), buffers)}
    if isinstance(value, list | tuple):
        return {"list": [encode(each, buffers) for each in cast("Sequence[object]", value)]}
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {"map": [[encode(key, buffers), encode(each, buffers)] for key, each in items]}
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if value is None or isinstance(value, bool | int | float | str):
        return {"plain": value}
    raise TypeError(f"a {type(value).__name__} is no value of a model")


def _encode_array(array: Array, buffers: list[memoryview]) -> Json:
    shape: list[Json] = list(array.shape)
    if array.dtype.kind in "OUST":
        texts = [
            each.decode() if isinstance(each, bytes) else str(each) for each in array.reshape(-1).tolist()
        ]
        return {"text": cast("list[Json]", texts), "shape": shape}
    dtype = DType.from_numpy(array.dtype)
    if dtype is None:
        raise TypeError(f"an array of {array.dtype} is no value of a model")
    content = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    buffers.append(memoryview(content.reshape(-1).view(np.uint8)))  # pyright: ignore[reportArgumentType]  # arrays are buffers
    return {"dtype": int(dtype), "shape": shape, "buffer": len(buffers) - 1}


def decode(value: Json, buffers: Sequence[memoryview]) -> RunValue:
    """The value that `encode` was given; FrameError for anything that it does not write."""
    match value:
        case {"plain": None | bool() | int() | float() | str() as plain}:
            return plain
        case {"list": list(items)}:
            return [decode(each, buffers) for each in items]
        case {"map": list(items)}:
            pairs = [cast("list[Json]", each) for each in items]
            if any(not isinstance(each, list) or len(each) != 2 for each in items):
                raise FrameError("this is no map")
            return {_key(decode(key, buffers)): decode(each, buffers) for key, each in pairs}
        case {"scalar": dict() as inner}:
            return _scalar(decode(inner, buffers))
        case {"text": list(texts), "shape": list(shape)}:
            return _decode_text(texts, _sizes(shape))
        case {"dtype": int(code), "shape": list(shape), "buffer": int(number)}:
            return _decode_array(code, _sizes(shape), number, buffers)
        case _:
            raise FrameError("this is no value")


def _scalar(value: RunValue) -> RunValue:
    if not isinstance(value, np.ndarray) or value.ndim:
        raise FrameError("this is no scalar")
    return value[()]


def _key(key: RunValue) -> int | str:
    if not isinstance(key, int | str):
        raise FrameError("this is no key of a map")
    return key


def _sizes(shape: list[Json]) -> tuple[int, ...]:
    if not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in shape):
        raise FrameError("this is no shape")
    return tuple(cast("list[int]", shape))


def _decode_text(texts: list[Json], shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.object_]]:
    if math.prod(shape) != len(texts) or not all(isinstance(each, str) for each in texts):
        raise FrameError("the text does not fit its shape")
    array = np.empty(len(texts), object)
    array[:] = texts
    return array.reshape(shape)


def _decode_array(code: int, shape: tuple[int, ...], number: int, buffers: Sequence[memoryview]) -> Array:
    try:
        dtype = DType(code)
        content = buffers[number]
    except (ValueError, IndexError):
        raise FrameError("the array has no known type, or no content") from None
    if dtype is DType.STRING or math.prod(shape) * dtype.numpy.itemsize != content.nbytes:
        raise FrameError("the content of an array does not fit its shape")
    return np.frombuffer(content, np.uint8).view(dtype.numpy).reshape(shape)
