"""Shapes and element types do not hide a mistake."""

from typing import Annotated

from onnxsmith import FLOAT, INT64, Dim
from onnxsmith import opset21 as op

N = Dim("N")
Matrix = FLOAT[N, 4]
Ids = Annotated[INT64, "N"]


def call(a: Matrix, b: Ids, c: Annotated[FLOAT, "N", 4], d: FLOAT[...] | None, e: list[INT64[N]]) -> None:
    op.Add(a, b)  # error
    op.Add(b, c)  # error
    op.Relu(d)  # error
    op.Add(a, e[0])  # error
    Dim(3)  # error
    print(N + "M")  # error
    FLOAT.shape_of  # error
