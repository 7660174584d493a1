"""The law of *fingerprints*: what is the same has one, in whatever form it lies; of what is small, nothing else has it.

A large weight is sampled: a change of a sampled element is seen, and no more than 64 kB and a row of it are looked at.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
from onnx import numpy_helper

from onnxsmith.graphs.identity import FINGERPRINT
from tests.laws.named import Law, Verdict

Array = np.ndarray[Any, Any]
_KINDS: tuple[Any, ...] = (
    *(np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64),
    *(np.int64, np.int8, np.uint16, np.bool_, object),
)
_SMALL, _LARGE = (0, 1, 2, 7, 100), (1 << 16, 100_003, 1 << 18)
_SAMPLED_BYTES = 1 << 16


def _drawn(draw: random.Random) -> Array:
    kind = draw.choice(_KINDS)
    size = draw.choice(_SMALL if kind is object or draw.random() < 0.8 else _LARGE)
    rng = np.random.default_rng(draw.randrange(1 << 30))
    if kind is object:
        return np.array([draw.choice(["", "a", "b'a'", "ä"]) for _ in range(size)], object)
    made = rng.integers(0, 3, size).astype(kind)
    if np.dtype(kind).kind in "fcV" and size:
        made[rng.integers(size)] = draw.choice((np.nan, -0.0, 0.0, np.inf))
    return made.reshape(draw.choice(((-1,), (1, -1), (-1, 1))))


def _forms(draw: random.Random, array: Array) -> Iterator[ir.TensorProtocol]:
    """The same tensor as it may lie: in memory, in a file's two ways, turned, and computed when it is read."""
    if array.dtype == object:
        stored = np.array([each.encode() for each in array.reshape(-1)], object).reshape(array.shape)
        yield ir.StringTensor(array, shape=ir.Shape(array.shape))
        yield ir.StringTensor(stored, shape=ir.Shape(array.shape))
        return
    yield ir.Tensor(array)
    yield ir.Tensor(np.ascontiguousarray(array.T).T)
    yield ir.LazyTensor(
        lambda: ir.Tensor(array), dtype=ir.DataType.from_numpy(array.dtype), shape=ir.Shape(array.shape)
    )
    if array.dtype != ml_dtypes.bfloat16:
        raw = numpy_helper.from_array(array, "t")
        yield ir.from_proto(raw)
        if array.size < 1000 and array.dtype != np.float16:
            plain = onnx.helper.make_tensor("t", raw.data_type, array.shape, array.reshape(-1).tolist())
            if np.asarray(numpy_helper.to_array(plain)).tobytes() == array.tobytes():
                yield ir.from_proto(plain)


def _changed(draw: random.Random, array: Array) -> Array | None:
    """The array with another element, one that a sample has."""
    if not array.size:
        return array.reshape((3, 0)) if array.ndim == 1 else None
    other = array.copy().reshape(-1)
    step = max(1, array.nbytes // _SAMPLED_BYTES) if array.dtype != object else 1
    place = draw.randrange(0, array.size, step)
    if array.dtype == object:
        other[place] += "x"
    elif array.dtype.kind == "b":
        other[place] = not other[place]
    else:
        bits = other.view(np.uint8).reshape(array.size, -1)
        bits[place, draw.randrange(bits.shape[1])] ^= 1 << draw.randrange(8)
    return other.reshape(array.shape)


def _verdicts(seed: int) -> Iterator[Verdict]:
    draw = random.Random(seed)
    while True:
        array = _drawn(draw)
        keys = [FINGERPRINT.tensor(each) for each in _forms(draw, array)]
        other = _changed(draw, array)
        wrong = "" if len(set(keys)) == 1 else "forms of one tensor"
        if other is not None and next(map(FINGERPRINT.tensor, _forms(draw, other))) in keys:
            wrong = "a change is not seen"
        if array.size and next(map(FINGERPRINT.tensor, _forms(draw, array.reshape((1, 1, -1))))) in keys:
            wrong = "another shape is not seen"
        yield Verdict("wrong", f"{wrong}: {array!r} and {other!r}") if wrong else Verdict("equal")


LAW = Law("equal weights have one fingerprint, and small ones that differ have two", 1000, _verdicts)
