"""Operators that the opset does not have yet, or no longer."""

from onnxsmith import FLOAT, opset1, opset9, opset10, opset11, opset13, opset17, opset18, opset22, opset28
from onnxsmith import opset_ai_onnx_ml4, opset_ai_onnx_ml5


def call(x: FLOAT) -> None:
    opset13.Gelu(x)  # error
    opset17.GroupNormalization(x, x, x, num_groups=1)  # error
    opset18.GroupNormalization(x, x, x, num_groups=1)  # error
    opset1.Where(x, x, x)  # error
    opset22.Attention(x, x, x)  # error
    opset10.Upsample(x, [1.0, 2.0])  # error
    opset11.Scatter(x, x, x)  # error
    opset28.Upsample(x, [1.0, 2.0])  # error
    opset_ai_onnx_ml5.TreeEnsembleRegressor(x)  # error
    opset9.Upsample(x, [1.0, 2.0])
    opset_ai_onnx_ml4.TreeEnsembleRegressor(x)
