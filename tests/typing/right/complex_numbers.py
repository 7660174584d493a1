"""Complex tensors, signal processing and linear algebra."""

from onnxsmith import COMPLEX64, DOUBLE, FLOAT, INT64
from onnxsmith import opset21 as op


def spectrum(signal: FLOAT["B", "T", 1], length: INT64) -> FLOAT[...]:
    window = op.HannWindow(length)
    return op.STFT(signal, 4, window, length) + op.DFT(signal, axis=1, onesided=1)


def rotate(z: COMPLEX64["N"]) -> COMPLEX64["N"]:
    return op.Reshape(z, [-1])


def determinant(a: DOUBLE["N", "N"]) -> DOUBLE:
    return op.Det(a) + op.ReduceLogSumExp(a, keepdims=0)


print(spectrum, rotate, determinant)
