"""Literals that do not fit the tensor they meet."""

from onnxsmith import BOOL, FLOAT, INT64, STRING, UINT8
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64, u: UINT8, b: BOOL, s: STRING) -> None:
    op.Add(i, 2.5)  # error
    op.Mul(u, [1, 2.5])  # error
    op.Add(x, "1.0")  # error
    op.And(b, 1)  # error
    op.Reshape(x, [2.0, -1])  # error
    op.Gather(x, 0.5)  # error
    op.Equal(s, 3)  # error
    op.Equal(x, "a")  # error
    print(i + 2.5)  # error
    print(1.5 * i)  # error
    print(x + "a")  # error
    print(b & 1.5)  # error
    print(i < 0.5)  # error
    print(x.clip("a", 1))  # error
