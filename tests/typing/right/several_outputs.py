"""Operators with several outputs, and with as many as one asks for."""

import numpy as np

from onnxsmith import FLOAT, INT64, UINT8
from onnxsmith import opset21 as op


def top(x: FLOAT, k: INT64) -> tuple[FLOAT, INT64]:
    values, indices = op.TopK(x, k, axis=-1, largest=0)
    return values + op.TopK(x, [3])[0], indices


def quantize(x: FLOAT) -> tuple[UINT8, FLOAT, UINT8]:
    y, scale, zero_point = op.DynamicQuantizeLinear(x)
    return y, scale, zero_point


def halves(x: FLOAT) -> FLOAT:
    a, b = op.Split(x, num_outputs=2, axis=1)
    c, d, e = op.Split(x, [1, 2, 3])
    parts = op.Split(x, outputs=2)
    return a + b + c + d + e + parts[0] + sum(parts[1:], a)


left, right = op.Split(np.arange(4, dtype=np.float32), num_outputs=2)
print(left + right, top, quantize, halves)
