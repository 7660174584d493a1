"""A tensor with arrays beside it: weights that are part of the program."""

import numpy as np

from onnxsmith import FLOAT, INT64, Tensor, trace
from onnxsmith import opset21 as op


class Linear:
    def __init__(self, inputs: int, outputs: int) -> None:
        self.weight = np.ones((inputs, outputs), dtype=np.float32)
        self.bias = np.zeros(outputs, dtype=np.float32)

    def __call__(self, x: FLOAT) -> FLOAT:
        return op.Gemm(x, self.weight, self.bias, alpha=0.5)


table = np.ones((10, 4), dtype=np.float32)
layer = Linear(4, 2)


def network(ids: INT64["N"]) -> FLOAT["N", 2]:
    embedded = op.Gather(table, ids)
    return layer(embedded) + layer.bias


def convolve(image: FLOAT["N", 3, 8, 8], kernel: np.ndarray) -> FLOAT[...]:
    return op.Relu(op.Conv(image, kernel, np.zeros(4, np.float32), pads=[1, 1, 1, 1]))


def lookup(ids: INT64["N"]) -> Tensor:
    return op.Gather(table, ids, axis=0)


print(trace(network, INT64["N"]), convolve, lookup)
