"""ONNX sequences are Python sequences of tensors."""

from collections.abc import Sequence

import numpy as np

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op


def build(x: FLOAT["N"], y: FLOAT["N"]) -> FLOAT["M"]:
    parts = op.SequenceConstruct(x, y)
    parts = op.SequenceInsert(parts, x)
    parts = op.SequenceInsert(parts, y, 0)
    parts = op.SequenceErase(parts, -1)
    length: INT64 = op.SequenceLength(parts)
    first: FLOAT = op.SequenceAt(parts, 0)
    return op.ConcatFromSequence(parts, axis=0) + first * length.astype(FLOAT)


def given(parts: Sequence[FLOAT["N"]]) -> FLOAT["N"]:
    return op.SequenceAt(parts, op.SequenceLength(parts) - 1)


def split(x: FLOAT["N", 4]) -> list[FLOAT]:
    pieces: Sequence[FLOAT] = op.SplitToSequence(x, 1, axis=0, keepdims=0)
    return [op.Relu(piece) for piece in pieces]


def empty() -> Sequence[FLOAT]:
    result: Sequence[FLOAT] = op.SequenceEmpty(dtype=FLOAT)
    return result


joined = op.ConcatFromSequence([np.ones(2, np.float32), np.zeros(2, np.float32)], axis=0)
arrays = op.SplitToSequence(np.ones((4, 2), np.float32), [2, 2])
print(joined.sum(), arrays[0].shape, trace(build, FLOAT["N"], FLOAT["N"]), given, split, empty)
