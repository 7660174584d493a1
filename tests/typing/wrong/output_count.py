"""The wrong number of outputs, asked for or unpacked."""

import numpy as np

from onnxsmith import FLOAT
from onnxsmith import opset21 as op


def call(x: FLOAT) -> None:
    a, b, c = op.TopK(x, [3])  # error
    (d,) = op.TopK(x, [3])  # error
    e, f = op.DynamicQuantizeLinear(x)  # error
    y, y_h = op.LSTM(x, x, x, hidden_size=4, outputs=3)  # error
    op.LSTM(x, x, x, hidden_size=4, outputs=4)  # error
    op.Dropout(x, outputs=3)  # error
    op.Relu(x, outputs=2)  # error
    op.Relu(op.TopK(x, [3]))  # error
    op.TopK(np.ones(3), [1]).sum()  # error
    print(a, b, c, d, e, f, y, y_h)
