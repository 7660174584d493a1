"""What is no element type."""

from onnxsmith import FLOAT, INT64
from onnxsmith import opset9, opset13
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64) -> None:
    op.Cast(x, to="float")  # error
    op.Cast(x, to=1.0)  # error
    op.Cast(x, to=x)  # error
    op.Cast(x, to=None)  # error
    op.RandomNormal(shape=[2], dtype="float32")  # error
    op.EyeLike(x, dtype=[1])  # error
    opset9.Cast(x, to="FLOAT")  # error
    opset13.Add(x, opset13.Cast(x, to=INT64))  # error
    op.Add(i, op.Cast(i, to=FLOAT))  # error
