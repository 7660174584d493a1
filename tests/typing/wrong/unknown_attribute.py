"""Keywords that are neither input nor attribute, or that belong to another version."""

from onnxsmith import FLOAT, opset9, opset13
from onnxsmith import opset21 as op


def call(x: FLOAT) -> None:
    op.Softmax(x, axes=1)  # error
    op.Conv(x, x, stride=[2, 2])  # error
    op.Relu(x, inplace=True)  # error
    op.Gemm(x, x, trans_b=1)  # error
    op.Concat(x, x, dim=0)  # error
    op.ReduceSum(x, axis=0)  # error
    op.Dropout(x, p=0.5)  # error
    opset9.Clip(x, minimum=0.0)  # error
    opset13.ReduceSum(x, axes_=[0])  # error
    opset13.Split(x, num_outputs=2)  # error
