"""ONNX Runtime's own operators, beside the standard ones."""

import numpy as np

from onnxsmith import FLOAT, FLOAT16, INT32, UINT8, opset_com_microsoft1
from onnxsmith import opset21 as op
from onnxsmith import opset_com_microsoft1 as ms


def feed_forward(x: FLOAT["N", 8], w: FLOAT[8, 8], bias: FLOAT[8]) -> FLOAT["N", 8]:
    hidden = ms.FastGelu(op.MatMul(x, w), bias)
    return ms.FusedMatMul(hidden, w, alpha=0.5, transB=1) + ms.Gelu(x)


def attention(query: FLOAT16["B", "S", 64], mask: INT32["B"]) -> FLOAT16["B", "S", 64]:
    return ms.MultiHeadAttention(query, query, query, key_padding_mask=mask, num_heads=8)


def skip(x: FLOAT, y: FLOAT, gamma: FLOAT) -> FLOAT:
    normalized: FLOAT = ms.SkipLayerNormalization(x, y, gamma, epsilon=1e-6)
    return normalized + opset_com_microsoft1.QuickGelu(x, alpha=1.7)


def quantized(a: UINT8, scale: FLOAT, zero: UINT8) -> UINT8:
    return ms.QLinearAdd(a, scale, zero, a, scale, zero, scale, zero)


gelu = ms.Gelu(np.ones(4, dtype=np.float32))
print(gelu.shape, feed_forward, attention, skip, quantized)
