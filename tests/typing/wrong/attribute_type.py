"""Attributes of the wrong type."""

import numpy as np

from onnxsmith import FLOAT
from onnxsmith import opset21 as op


def call(x: FLOAT) -> None:
    op.Softmax(x, axis="last")  # error
    op.Softmax(x, axis=1.5)  # error
    op.Softmax(x, axis=[1])  # error
    op.Conv(x, x, strides=2)  # error
    op.Conv(x, x, pads="same")  # error
    op.Transpose(x, perm=(0.5, 1.5))  # error
    op.LeakyRelu(x, alpha="0.1")  # error
    op.LeakyRelu(x, alpha=x)  # error
    op.Einsum(x, equation=3)  # error
    op.RNN(x, x, x, hidden_size=4, activations=[1])  # error
    op.Constant(value_ints=[1.5])  # error
    op.Flatten(x, axis=None)  # error
    op.Relu(np.ones(3), axis=1)  # error
