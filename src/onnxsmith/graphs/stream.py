"""Writes a model to a file with its weights going straight from their own memory.

protobuf would copy every weight into a message and the message into bytes. Here the messages around the weights are
serialized by protobuf and the weights are written in between, with the lengths computed beforehand. The bytes are
those of an ordinary model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

import onnx

from onnxsmith.graphs.lazy_ir import ir

#: Weights from this size on are worth going around protobuf.
LARGE_BYTES = 1 << 16

_LENGTH_DELIMITED = 2
_GRAPH_OF_MODEL = onnx.ModelProto.GRAPH_FIELD_NUMBER
_INITIALIZER_OF_GRAPH = onnx.GraphProto.INITIALIZER_FIELD_NUMBER
_RAW_DATA_OF_TENSOR = onnx.TensorProto.RAW_DATA_FIELD_NUMBER


def write_model(
    proto: onnx.ModelProto,
    large: dict[str, ir.TensorProtocol],
    write_tensor: Callable[[ir.TensorProtocol, BinaryIO], None],
    file: BinaryIO,
) -> None:
    """Write a model whose initializers named in `large` have no data in the proto. The proto is used up."""
    initializers = list(proto.graph.initializer)
    del proto.graph.initializer[:]
    graph = proto.graph.SerializeToString()
    proto.ClearField("graph")
    pieces = [list(_initializer(each, large.get(each.name))) for each in initializers]
    length = len(graph) + sum(_length(piece) for parts in pieces for piece in parts)
    file.write(proto.SerializeToString())
    file.write(_header(_GRAPH_OF_MODEL, length))
    file.write(graph)
    for parts in pieces:
        for piece in parts:
            if isinstance(piece, bytes):
                file.write(piece)
            else:
                write_tensor(piece, file)


def _initializer(
    proto: onnx.TensorProto, tensor: ir.TensorProtocol | None
) -> Iterator[bytes | ir.TensorProtocol]:
    if tensor is None:
        content = proto.SerializeToString()
        yield _header(_INITIALIZER_OF_GRAPH, len(content)) + content
        return
    raw = _header(_RAW_DATA_OF_TENSOR, tensor.nbytes)
    around = proto.SerializeToString()
    yield _header(_INITIALIZER_OF_GRAPH, len(around) + len(raw) + tensor.nbytes) + around + raw
    yield tensor


def _length(piece: bytes | ir.TensorProtocol) -> int:
    return len(piece) if isinstance(piece, bytes) else piece.nbytes


def _header(field: int, length: int) -> bytes:
    """The tag and length before a message or bytes."""
    return _varint(field << 3 | _LENGTH_DELIMITED) + _varint(length)


def _varint(value: int) -> bytes:
    """An integer in groups of seven bits, lowest first; the highest bit says that more follow."""
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
