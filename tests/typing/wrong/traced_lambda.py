"""Mistakes inside a traced lambda, and types that do not go with the function."""

from onnxsmith import BOOL, FLOAT, INT64, trace
from onnxsmith import opset21 as op


def linear(x: FLOAT["N", 4], w: FLOAT[4, 8]) -> FLOAT["N", 8]:
    return x @ w


trace(lambda x, i: op.Add(x, i), FLOAT["N"], INT64["N"])  # error
trace(lambda x: op.Relu(x, 1), FLOAT["N"])  # error
trace(lambda x: op.Softmax(x, axes=1), FLOAT["N"])  # error
trace(lambda x: x + "a", FLOAT["N"])  # error
trace(lambda b: op.Erf(b), BOOL["N"])  # error
trace(lambda x: None, FLOAT["N"])  # error
trace(lambda x, y: x + y, FLOAT["N"])  # error
trace(linear, FLOAT["N", 4])  # error
trace(linear, INT64["N", 4], FLOAT[4, 8])  # error
trace(linear, FLOAT["N", 4], FLOAT[4, 8], opset=21)  # error
trace(FLOAT["N"], linear)  # error
