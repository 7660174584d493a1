"""More inputs than there are, and attributes by position."""

import numpy as np

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64) -> None:
    op.Relu(x, x)  # error
    op.Add(x, x, x)  # error
    op.Softmax(x, 1)  # error
    op.Transpose(x, [1, 0])  # error
    op.Cast(x, 1)  # error
    op.Gather(x, i, 0)  # error
    op.LeakyRelu(x, 0.1)  # error
    op.Flatten(x, 1)  # error
    op.Constant(1.0)  # error
    op.Relu(np.ones(3), np.ones(3))  # error
    op.Softmax(np.ones(3), -1)  # error
    op.Conv(x, x, x, [1, 1])  # error
