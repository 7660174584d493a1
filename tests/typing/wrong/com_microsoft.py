"""ONNX Runtime's operators are checked like the standard ones."""

from onnxsmith import FLOAT, FLOAT16, INT64
from onnxsmith import opset_com_microsoft1 as ms


def call(x: FLOAT, h: FLOAT16, i: INT64) -> None:
    ms.FusedMatMul(x, h)  # error
    ms.Gelu(i)  # error
    ms.FastGelu(x, axis=1)  # error
    ms.FusedMatMul(x, x, alpha="half")  # error
    ms.MultiHeadAttention(x, x, x)  # error
    ms.QuickGelu(x, 1.7)  # error
    ms.MoE(x, x, x, None, x, k=2, activation_type="tanh")  # error
