"""`Annotated` needs no plugin in any checker."""

from typing import Annotated, TypeAlias

from onnxsmith import FLOAT, INT64
from onnxsmith import opset21 as op

Matrix: TypeAlias = Annotated[FLOAT, "N", 4]
Batch = Annotated[FLOAT, "B", "N", 4]


def double(x: Annotated[FLOAT, "N", 4]) -> Annotated[FLOAT, "N", 4]:
    return x + x


def flatten(x: Batch, shape: Annotated[INT64, 2]) -> Matrix:
    return op.Reshape(double(x), shape)


print(flatten)
