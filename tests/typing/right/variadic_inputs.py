"""Any number of inputs, spelt out or from a list."""

import numpy as np

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def join(x: FLOAT, y: FLOAT, parts: list[FLOAT]) -> FLOAT:
    a = op.Concat(x, y, axis=0)
    b = op.Concat(*parts, axis=-1)
    c = op.Concat(x, *parts, np.ones(3, np.float32), axis=0)
    d = op.Sum(x) + op.Sum(x, y, x) + op.Mean(*parts)
    e = op.Max(x, y, 0.0) + op.Min(*parts, x)
    return a + b + c + d + e + op.Einsum(x, y, equation="ij,jk->ik")


def shape(x: FLOAT, n: INT64) -> INT64:
    return op.Concat(n, [3], op.Shape(x, start=1), axis=0)


arrays = [np.ones(2, np.float32), np.zeros(2, np.float32)]
print(op.Concat(*arrays, axis=0).sum(), op.Max(*arrays), join, shape)
