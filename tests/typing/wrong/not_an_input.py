"""Objects that are no tensor, array or literal."""

import numpy as np

from onnxsmith import FLOAT, DType
from onnxsmith import opset21 as op


def call(x: FLOAT) -> None:
    op.Relu(object())  # error
    op.Relu({"x": 1})  # error
    op.Relu(None)  # error
    op.Relu(FLOAT)  # error
    op.Add(x, DType)  # error
    op.Add(x, print)  # error
    op.Relu(np)  # error
    op.Add(x, {1.0, 2.0})  # error
    op.MatMul(x, lambda: x)  # error
    op.Relu(op.Relu)  # error
    op.Concat([x, x], axis=0)  # error
