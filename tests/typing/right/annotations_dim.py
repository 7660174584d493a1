"""Dimensions as objects: the form that every checker takes without a plugin's help for strings."""

from onnxsmith import BOOL, FLOAT, INT64, Dim, trace
from onnxsmith import opset21 as op

N = Dim("N")
H = Dim("hidden")


def project(x: FLOAT[N, H], w: FLOAT[H, 8], mask: BOOL[N, 1]) -> FLOAT[N, 8]:
    return op.Where(mask, x @ w, 0.0)


def grow(x: FLOAT[N]) -> FLOAT[N + 1]:
    return op.Concat(x, [0.0], axis=0)


def scalar(x: FLOAT, steps: INT64) -> FLOAT:
    return x * steps.astype(FLOAT)


print(trace(project, FLOAT[N, H], FLOAT[H, 8], BOOL[N, 1]))
print(trace(grow, FLOAT[N]), trace(scalar, FLOAT, INT64))
