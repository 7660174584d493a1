"""Inputs by keyword, in any order, beside attributes."""

import numpy as np

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def gemm(a: FLOAT, b: FLOAT, c: FLOAT) -> FLOAT:
    return op.Gemm(B=b, A=a, transB=1) + op.Gemm(a, b, C=c, beta=0.5) + op.Gemm(A=a, B=b, C=None)


def gather(data: FLOAT, indices: INT64) -> FLOAT:
    return op.Gather(indices=indices, data=data, axis=1) + op.Gather(data, indices=[0, 1])


def where(x: FLOAT) -> FLOAT:
    return op.Where(condition=x > 0, X=x, Y=0.0)


print(op.Pow(X=np.ones(3, np.float32), Y=2).shape, gemm, gather, where)
