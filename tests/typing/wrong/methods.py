"""Methods that tensors do not have, or called wrongly."""

from onnxsmith import FLOAT, INT64, tensor
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64) -> None:
    x.relu()  # error
    x.view(2, 3)  # error
    x.sum(dim=0)  # error
    x.astype("float")  # error
    x.astype()  # error
    x.argmax(axis="1")  # error
    x.T()  # error
    x.shape()  # error
    x[0] = 1.0  # error
    x.at[0].set(i)  # error
    x.clip(i, i)  # error
    op.Add(x.argmax(), x)  # error
    op.Add(x.astype(INT64), x)  # error
    tensor([1.0]).cuda()  # error
    tensor()  # error
