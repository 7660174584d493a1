"""Messages between processes: what goes in comes out, and nothing that is no message gets through."""

from __future__ import annotations

import io
import json
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onnxsmith.runtime import frames
from onnxsmith.runtime.frames import FrameError


def sent(value):
    buffers: list[memoryview] = []
    header = {"value": frames.encode(value, buffers)}
    message = frames.read(io.BytesIO(b"".join(frames.pieces(header, buffers))))
    assert message is not None
    return frames.decode(message.header["value"], message.buffers)


def same(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


NUMBERS = st.sampled_from(["f4", "f8", "f2", "i1", "i8", "u4", "?", "c8"]).flatmap(
    lambda code: arrays.arrays(code, arrays.array_shapes(min_dims=0, min_side=0, max_side=4))
)


@given(st.recursive(NUMBERS | st.none(), lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_values_come_out_as_they_went_in(value) -> None:
    assert same(sent(value), value)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_types_that_numpy_lacks(dtype) -> None:
    value = np.arange(6).reshape(2, 3).astype(getattr(ml_dtypes, dtype))
    assert same(sent(value), value)


def test_text_maps_and_scalars() -> None:
    text = np.array([["a", "é"], ["", "long" * 99]], object)
    assert sent(text).tolist() == text.tolist()
    assert sent(np.array([b"abc"])).tolist() == ["abc"]
    value = [{1: np.float32(0.5), 2: np.float32(0.25)}, {"a": 1.5}]
    assert sent(value) == value


def test_arrays_are_not_copied() -> None:
    value = np.ones(10, np.float32)
    buffers: list[memoryview] = []
    frames.encode(value, buffers)
    assert np.shares_memory(np.frombuffer(buffers[0], np.float32), value)


def test_arrays_in_another_order() -> None:
    value = np.arange(6, dtype=">f4").reshape(2, 3).T
    assert np.array_equal(sent(value), value)


def test_the_end_is_no_message() -> None:
    assert frames.read(io.BytesIO(b"")) is None


def message(header: object, *buffers: bytes) -> bytes:
    text = json.dumps(header).encode()
    sizes = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    return b"smith\x01" + struct.pack("<QI", len(text), len(buffers)) + sizes + text + b"".join(buffers)


@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        b"\x80\x04\x95" + b"x" * 40,  # a pickle
        message({"a": 1})[:-1],
        message({"a": 1}, b"12345678")[:-1],
        message([1]),
        b"smith\x01" + struct.pack("<QI", 1 << 60, 0),
        b"smith\x01" + struct.pack("<QI", 2, 1) + struct.pack("<Q", 1 << 62) + b"{}",
        b"smith\x01" + struct.pack("<QI", 3, 0) + b"{x}",
        message({})[:-2] + b"[" * 2,
    ],
)
def test_what_is_no_message(content) -> None:
    with pytest.raises(FrameError):
        frames.read(io.BytesIO(content))


@pytest.mark.parametrize(
    "value",
    [
        1,
        None,
        {"plain": [1]},
        {"dtype": 1, "shape": [3], "buffer": 0},
        {"dtype": 1, "shape": [-1], "buffer": 0},
        {"dtype": 1, "shape": [True, 2], "buffer": 0},
        {"dtype": 1, "shape": [2], "buffer": 7},
        {"dtype": 8, "shape": [2], "buffer": 0},
        {"dtype": 999, "shape": [2], "buffer": 0},
        {"dtype": "O", "shape": [1], "buffer": 0},
        {"text": ["a"], "shape": [2]},
        {"text": [1], "shape": [1]},
        {"map": [[{"list": []}, {"plain": 1}]]},
        {"map": [[{"plain": 1}]]},
        {"map": [1]},
    ],
)
def test_what_is_no_value(value) -> None:
    with pytest.raises(FrameError):
        frames.decode(value, [memoryview(bytes(8))])
