"""Operators that no version has, or that are spelt otherwise."""

import onnxsmith
from onnxsmith import FLOAT, opset_ai_onnx_ml5, opset_com_microsoft1
from onnxsmith import opset21 as op


def call(x: FLOAT) -> None:
    op.Reul(x)  # error
    op.softmax(x)  # error
    op.Matmul(x, x)  # error
    op.LabelEncoder(x)  # error
    opset_ai_onnx_ml5.Relu(x)  # error
    opset_com_microsoft1.FastGelo(x)  # error
    onnxsmith.opset21.Linear(x)  # error
