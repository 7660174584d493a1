"""Inputs that an operator needs and does not get."""

import numpy as np

from onnxsmith import FLOAT
from onnxsmith import opset21 as op
from onnxsmith import opset_com_microsoft1 as ms

array = np.ones(3, dtype=np.float32)


def call(x: FLOAT) -> None:
    op.MatMul(x)  # error
    op.Relu()  # error
    op.Where(x > 0, x)  # error
    op.Concat(axis=0)  # error
    op.Gemm(A=x)  # error
    op.LSTM(x, x, hidden_size=3)  # error
    op.Add(array)  # error
    op.Max()  # error
    op.BatchNormalization(x, x, x, x)  # error
    op.Add(x, None)  # error
    ms.FusedMatMul(x)  # error
