"""Tensors of two element types where one is needed."""

from onnxsmith import BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, Dim
from onnxsmith import opset21 as op

N = Dim("N")


def call(x: FLOAT[N, 4], y: DOUBLE[4], i: INT64[N], j: INT32[N], h: FLOAT16[4], b: BOOL[N]) -> None:
    op.Add(x, i)  # error
    op.MatMul(x, y)  # error
    op.Where(b, x, h)  # error
    op.Concat(x, i, axis=0)  # error
    op.Max(x, x, y)  # error
    op.Gemm(x, x, y)  # error
    op.Equal(i, j)  # error
    op.Clip(x, y)  # error
    op.Conv(x, h)  # error
    op.ScatterND(x, i, y)  # error
    op.Einsum(x, h, equation="ij,j->i")  # error
    op.Add(op.Relu(x), op.Cast(x, to=INT64))  # error
