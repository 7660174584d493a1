"""Sequences of the wrong things."""

from collections.abc import Sequence

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64, floats: Sequence[FLOAT], mixed: list[FLOAT | INT64]) -> None:
    op.SequenceConstruct(x, i)  # error
    op.SequenceInsert(floats, i)  # error
    op.SequenceAt(x, 0)  # error
    op.SequenceAt(floats, x)  # error
    op.ConcatFromSequence(floats)  # error
    op.Concat(floats, axis=0)  # error
    op.Add(op.SequenceAt(floats, 0), i)  # error
    op.SequenceLength(3)  # error
    y: INT64 = op.SequenceAt(floats, 0)  # error
    print(y, mixed)
