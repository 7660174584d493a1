"""Inputs that may be left out, by position, by name and by None."""

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def clips(x: FLOAT, low: FLOAT | None) -> FLOAT:
    return (
        op.Clip(x, 0.0)
        + op.Clip(x, None, 1.0)
        + op.Clip(x, max=2.0)
        + op.Clip(x, low, None)
        + op.Clip(input=x)
    )


def recurrent(x: FLOAT, w: FLOAT, r: FLOAT, h: FLOAT, lengths: INT64) -> FLOAT:
    a = op.GRU(x, w, r, hidden_size=8)
    b = op.GRU(x, w, r, None, None, h, hidden_size=8)
    c = op.GRU(x, w, r, initial_h=h, hidden_size=8, direction="reverse")
    d = op.GRU(x, w, r, sequence_lens=op.Cast(lengths, to=6), hidden_size=8)
    return a + b + c + op.Cast(d, to=FLOAT)


def resize(x: FLOAT) -> FLOAT:
    return op.Resize(x, scales=[1.0, 1.0, 2.0, 2.0], mode="linear") + op.Resize(x, None, None, [1, 3, 8, 8])


def slices(x: FLOAT, n: INT64) -> FLOAT:
    return op.Slice(x, [0], n, steps=[2]) + op.Slice(x, [0], [4], None, [1])


print(clips, recurrent, resize, slices)
