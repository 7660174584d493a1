"""Strings that an attribute does not know, in this version."""

from onnxsmith import FLOAT, INT64, opset11, opset16, opset18, opset20
from onnxsmith import opset_ai_onnx_ml5 as ml
from onnxsmith import opset21 as op


def call(x: FLOAT, i: INT64) -> None:
    op.Pad(x, [1, 1], mode="mirror")  # error
    opset18.Pad(x, [1, 1], mode="wrap")  # error
    op.Conv(x, x, auto_pad="same")  # error
    op.LSTM(x, x, x, hidden_size=1, direction="backward")  # error
    op.Resize(x, None, [2.0], mode="bilinear")  # error
    op.ScatterND(x, i, x, reduction="sum")  # error
    opset16.ScatterND(x, i, x, reduction="max")  # error
    opset16.GridSample(x, x, mode="linear")  # error
    opset20.GridSample(x, x, mode="bilinear")  # error
    op.Gelu(x, approximate="erf")  # error
    op.DepthToSpace(x, blocksize=2, mode="crd")  # error
    opset11.BitShift(i, i, direction="UP")  # error
    ml.Normalizer(x, norm="L3")  # error
    ml.LinearClassifier(x, coefficients=[1.0], post_transform="softmax")  # error
