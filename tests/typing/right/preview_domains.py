"""The preview domains."""

from typing import Any

from onnxsmith import FLOAT, INT64
from onnxsmith import opset_ai_onnx_preview1 as preview
from onnxsmith import opset_ai_onnx_preview_training1 as training


def step(rate: FLOAT, count: INT64, weight: FLOAT, gradient: FLOAT, momentum: FLOAT) -> Any:
    return training.Momentum(
        rate, count, weight, gradient, momentum, alpha=0.9, beta=0.1, mode="nesterov", norm_coefficient=0.0
    )


def adam(rate: FLOAT, count: INT64, *tensors: FLOAT) -> Any:
    return training.Adam(rate, count, *tensors, alpha=0.9)


print(step, adam, preview.FlexAttention)
