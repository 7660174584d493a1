"""Attributes of every kind."""

import numpy as np
import onnx
import onnx.numpy_helper

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op


def convolve(x: FLOAT, w: FLOAT, pads: list[int], stride: int) -> FLOAT:
    a = op.Conv(x, w, auto_pad="SAME_UPPER", strides=(stride, stride), group=1)
    b = op.Conv(x, w, pads=pads, kernel_shape=[3, 3], dilations=np.array([1, 1]))
    c = op.AveragePool(x, kernel_shape=[2, 2], ceil_mode=True, count_include_pad=1)
    return a + b + c


def scatter(x: FLOAT, i: INT64, updates: FLOAT) -> FLOAT:
    return op.ScatterND(x, i, updates, reduction="add") + op.ScatterElements(
        x, i, updates, axis=-1, reduction="max"
    )


def activations(x: FLOAT) -> FLOAT:
    a = op.LeakyRelu(x, alpha=0.1) + op.Elu(x, alpha=2) + op.Gelu(x, approximate="tanh")
    b = op.HardSigmoid(x, alpha=np.float32(0.2), beta=0.5)
    return a + b + op.Softmax(x, axis=np.int64(1))


def constants(x: FLOAT) -> FLOAT:
    a = op.Constant(value_float=1.0) + op.Constant(value_ints=[1, 2])
    b = op.Constant(value=np.ones(3, dtype=np.float32)) + op.Constant(
        value=onnx.numpy_helper.from_array(np.ones(3))
    )
    c = op.ConstantOfShape(op.Shape(x), value=np.array([2.0], np.float32))
    return x + a + b + c


def normalize(x: FLOAT, scale: FLOAT, axes: tuple[int, ...]) -> FLOAT:
    y = op.LayerNormalization(x, scale, epsilon=1e-6, axis=-1)
    return op.Transpose(y, perm=axes) + op.ReduceMax(x, keepdims=False)


def recurrent(x: FLOAT, w: FLOAT, r: FLOAT) -> FLOAT:
    return op.RNN(x, w, r, hidden_size=4, activations=["Tanh"], direction="forward", clip=3.0)


print(convolve, scatter, activations, constants, normalize, recurrent)
