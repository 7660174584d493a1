"""Element types that an operator does not take."""

from onnxsmith import BOOL, FLOAT, INT64, STRING, UINT8
from onnxsmith import opset13, opset21
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64, b: BOOL, s: STRING, u: UINT8) -> None:
    op.Erf(b)  # error
    op.Softmax(i)  # error
    op.Not(x)  # error
    op.And(x, b)  # error
    op.Gather(x, x)  # error
    op.Reshape(x, x)  # error
    op.Where(x, x, x)  # error
    op.Relu(s)  # error
    op.BitShift(i, i, direction="LEFT")  # error
    op.StringConcat(x, s)  # error
    op.TopK(x, x)  # error
    op.Range(b, b, b)  # error
    opset13.Relu(i)  # error
    opset21.Relu(i)
