"""Results that are not what the function says it returns."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith import opset21 as op


def shape(x: FLOAT["N"]) -> FLOAT:
    return op.Shape(x)  # error


def compare(x: FLOAT["N"]) -> FLOAT:
    return x > 0  # error


def cast(x: FLOAT["N"]) -> INT64:
    return op.Cast(x, to=BOOL)  # error


def both(x: FLOAT["N"]) -> FLOAT:
    return op.TopK(x, [1])  # error


def array(x: np.ndarray) -> FLOAT:
    return op.Relu(x)  # error


def index(x: FLOAT["N"]) -> BOOL:
    return x.argmax()  # error


def caller(x: FLOAT, i: INT64) -> None:
    shape(i)  # error
    y: INT64 = op.Relu(x)  # error
    z: FLOAT = op.ArgMax(x)  # error
    print(y, z)
