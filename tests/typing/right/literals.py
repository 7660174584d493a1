"""Numbers, lists and strings where an operator takes a tensor."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64, STRING, UINT8
from onnxsmith import opset21 as op


def numbers(x: FLOAT, i: INT64, u: UINT8, b: BOOL) -> FLOAT:
    a = op.Add(x, 1.0) + op.Add(2, x) + op.Mul(x, [1.0, 2.0]) + op.Max(x, 0.0, [[1, 2], [3, 4]])
    c = op.Add(i, 1) - op.Mod(i, 3) * op.Max(i, 0, 5)
    d = op.Add(u, 255)
    e = op.And(b, True)
    return op.Where(e, a, op.Cast(c, to=FLOAT) * op.Cast(d, to=FLOAT))


def shapes(x: FLOAT, n: INT64) -> FLOAT:
    a = op.Reshape(x, [2, -1])
    b = op.Reshape(x, (n, -1))
    c = op.Expand(1.0, op.Shape(x)) + op.Expand(x, [2, 3, 4])
    d = op.Slice(x, [0], [n], axes=[1], steps=[2])
    e = op.Tile(op.Unsqueeze(x, 0), [2, 1, 1]) + op.Squeeze(x, [0])
    f = op.Gather(x, 0) + op.Gather(x, [[0, 1], [1, 0]], axis=1)
    g = op.Pad(x, [0, 1, 0, 1], 0.5) + op.ReduceSum(x, [0, -1])
    return a + b + c + d + e + f + g


def made_of_literals(x: FLOAT) -> FLOAT:
    steps = op.Range(0, 10, 2)
    zeros = op.ConstantOfShape([2, 3])
    return op.Cast(steps, to=FLOAT) + zeros + x + op.Sqrt(2.0) * op.Sqrt([4.0, 9.0])


def scalars(x: FLOAT) -> FLOAT:
    return op.Mul(x, np.float32(0.5)) + op.Clip(x, np.float32(0), np.float64(1))


def text(s: STRING) -> tuple[BOOL, STRING]:
    return op.Equal(s, "yes"), op.StringConcat(s, ["a", "b"])


print(numbers, shapes, made_of_literals, scalars, text)
