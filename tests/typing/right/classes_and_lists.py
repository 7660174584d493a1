"""Operators inside classes, comprehensions, dictionaries and higher-order functions."""

from collections.abc import Callable
from functools import partial, reduce

import numpy as np

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op

Activation = Callable[[FLOAT], FLOAT]
ACTIVATIONS: dict[str, Activation] = {
    "relu": lambda x: op.Relu(x),
    "leaky": lambda x: op.LeakyRelu(x, alpha=0.2),
    "twice": lambda x: x * 2,
}


class Network:
    def __init__(self, sizes: list[int], activation: str) -> None:
        self.layers = [np.ones((a, b), np.float32) for a, b in zip(sizes, sizes[1:], strict=False)]
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: FLOAT["N", 4]) -> FLOAT["N", 2]:
        for layer in self.layers:
            x = self.activation(op.MatMul(x, layer))
        outputs = [op.Sigmoid(x), op.Tanh(x)]
        joined = op.Concat(*[op.Unsqueeze(each, [0]) for each in outputs], axis=0)
        total: FLOAT = reduce(lambda a, b: a + b, outputs)
        leaky: Activation = partial(op.LeakyRelu, alpha=0.1)
        return total + op.ReduceSum(joined, [0], keepdims=0) + leaky(x)


print(trace(Network([4, 8, 2], "relu").forward, FLOAT["N", 4]))
