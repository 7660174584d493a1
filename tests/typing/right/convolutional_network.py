"""A small image classifier, traced with weights from a dictionary."""

import numpy as np

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset17 as op

rng = np.random.default_rng(0)
weights: dict[str, np.ndarray] = {
    "conv1": rng.random((8, 3, 3, 3), dtype=np.float32),
    "scale": rng.random(8, dtype=np.float32),
    "dense": rng.random((8, 10), dtype=np.float32),
}


def classify(image: FLOAT["N", 3, 32, 32]) -> tuple[INT64["N"], FLOAT["N", 10]]:
    x = op.Conv(image, weights["conv1"], pads=[1, 1, 1, 1], strides=[2, 2])
    x = op.BatchNormalization(x, weights["scale"], weights["scale"], weights["scale"], weights["scale"])
    x = op.MaxPool(op.Relu(x), kernel_shape=[2, 2], strides=[2, 2])
    x = op.Flatten(op.GlobalAveragePool(x))
    logits = op.Gemm(x, weights["dense"])
    return op.ArgMax(logits, axis=1, keepdims=0), op.Softmax(logits, axis=1)


model = trace(classify, FLOAT["N", 3, 32, 32])
labels, probabilities = model(np.zeros((1, 3, 32, 32), np.float32))
print(labels, probabilities.sum())
