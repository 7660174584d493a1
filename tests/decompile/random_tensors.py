"""Tensors, sparse tensors and attributes of every kind, at random and to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
from hypothesis import strategies as st
from onnx import AttributeProto, TensorProto, helper

from tests.decompile.odd_names import maybe_texts, texts

Draw = Callable[[Any], Any]

#: Bits of an element; text and what has no agreed layout are left out.
BITS = {
    **dict.fromkeys((TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1), 4),
    **dict.fromkeys((TensorProto.UINT8, TensorProto.INT8, TensorProto.BOOL), 8),
    **dict.fromkeys((TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ), 8),
    **dict.fromkeys((TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT8E8M0), 8),
    **dict.fromkeys((TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT16, TensorProto.UINT16), 16),
    **dict.fromkeys((TensorProto.FLOAT, TensorProto.INT32, TensorProto.UINT32), 32),
    **dict.fromkeys((TensorProto.DOUBLE, TensorProto.INT64, TensorProto.UINT64, TensorProto.COMPLEX64), 64),
    TensorProto.COMPLEX128: 128,
    TensorProto.UINT2: 2,
    TensorProto.INT2: 2,
}
DTYPES = (*BITS, TensorProto.STRING)
COMMON_DTYPES = (TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL)
SHAPES = ((), (1,), (2,), (2,), (3,), (1, 2), (2, 2), (0,), (2, 0))


def tensor(
    draw: Draw, name: str, dtype: int | None = None, shape: tuple[int, ...] | None = None
) -> TensorProto:
    """A tensor of random bits."""
    if dtype is None:
        dtype = draw(st.one_of(st.sampled_from(COMMON_DTYPES), st.sampled_from(DTYPES)))
    if shape is None:
        shape = draw(st.sampled_from(SHAPES))
    size = 1
    for each in shape:
        size *= each
    proto = TensorProto(name=name, data_type=dtype, dims=shape)
    if dtype == TensorProto.STRING:
        proto.string_data.extend(draw(st.lists(texts, min_size=size, max_size=size).map(_encoded)))
    elif dtype in (TensorProto.FLOAT, TensorProto.INT64) and draw(st.booleans()):
        numbers = st.integers(-5, 5) if dtype == TensorProto.INT64 else st.floats(width=32)
        field = proto.int64_data if dtype == TensorProto.INT64 else proto.float_data
        field.extend(draw(st.lists(numbers, min_size=size, max_size=size)))
    else:
        proto.raw_data = _bits(draw, dtype, size)
    proto.doc_string = draw(maybe_texts) if draw(st.integers(0, 9)) == 0 else ""
    return proto


def _encoded(each: list[str]) -> list[bytes]:
    return [text.encode() for text in each]


def _bits(draw: Draw, dtype: int, size: int) -> bytes:
    count = size * BITS[dtype]
    length = (count + 7) // 8
    content = bytearray(draw(st.binary(min_size=length, max_size=length)))
    if dtype == TensorProto.BOOL:
        return bytes(each & 1 for each in content)
    if count % 8:
        content[-1] &= (1 << count % 8) - 1  # what is left of the last byte holds nothing
    return bytes(content)


def sparse_tensor(draw: Draw, name: str) -> onnx.SparseTensorProto:
    """A vector with some elements that are not zero."""
    length = draw(st.integers(1, 6))
    places = sorted(draw(st.sets(st.integers(0, length - 1), min_size=1)))
    values = tensor(draw, name, TensorProto.FLOAT, (len(places),))
    indices = helper.make_tensor("", TensorProto.INT64, [len(places)], places)
    return helper.make_sparse_tensor(values, indices, [length])


def attribute(draw: Draw, name: str) -> AttributeProto:
    """An attribute of any kind but a graph."""
    kind = draw(st.sampled_from(_KINDS))
    proto = AttributeProto(name=name, type=kind)
    few = {"max_size": 3}
    match kind:
        case AttributeProto.FLOAT:
            proto.f = draw(st.floats(width=32))
        case AttributeProto.INT:
            proto.i = draw(st.integers(-(2**63), 2**63 - 1))
        case AttributeProto.STRING:
            proto.s = draw(maybe_texts.map(str.encode))
        case AttributeProto.TENSOR:
            proto.t.CopyFrom(tensor(draw, ""))
        case AttributeProto.SPARSE_TENSOR:
            proto.sparse_tensor.CopyFrom(sparse_tensor(draw, ""))
        case AttributeProto.TYPE_PROTO:
            proto.tp.CopyFrom(
                helper.make_tensor_type_proto(TensorProto.FLOAT, draw(st.sampled_from(_SHAPES)))
            )
        case AttributeProto.FLOATS:
            proto.floats.extend(draw(st.lists(st.floats(width=32), **few)))
        case AttributeProto.INTS:
            proto.ints.extend(draw(st.lists(st.integers(-9, 9), **few)))
        case AttributeProto.STRINGS:
            proto.strings.extend(draw(st.lists(maybe_texts.map(str.encode), **few)))
        case _:
            proto.tensors.extend([tensor(draw, "") for _ in range(draw(st.integers(0, 2)))])
    proto.doc_string = draw(maybe_texts) if draw(st.integers(0, 9)) == 0 else ""
    return proto


_SHAPES = (None, (), (2,), ("N", 2), ("a b", None))
_KINDS = (
    AttributeProto.FLOAT,
    AttributeProto.INT,
    AttributeProto.STRING,
    AttributeProto.TENSOR,
    AttributeProto.SPARSE_TENSOR,
    AttributeProto.TYPE_PROTO,
    AttributeProto.FLOATS,
    AttributeProto.INTS,
    AttributeProto.STRINGS,
    AttributeProto.TENSORS,
)
