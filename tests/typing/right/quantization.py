"""Small types, and operators that convert between them."""

import numpy as np

from onnxsmith import BFLOAT16, FLOAT, FLOAT8E4M3FN, INT4, INT8, INT32, UINT8
from onnxsmith import opset21 as op


def linear(x: FLOAT["N", 4], w: INT8[4, 8]) -> FLOAT["N", 8]:
    scale = np.float32(0.1)
    q: UINT8 = op.QuantizeLinear(x, scale, output_dtype=UINT8)
    product: INT32 = op.MatMulInteger(q, w, np.uint8(128))
    return product.astype(FLOAT) * scale


def blocked(w: INT4[8, 8], scales: FLOAT[8, 2]) -> FLOAT[8, 8]:
    return op.DequantizeLinear(w, scales, axis=1, block_size=4)


def eighths(x: FLOAT) -> FLOAT8E4M3FN:
    return op.Cast(x, to=FLOAT8E4M3FN, saturate=0)


def brain(x: BFLOAT16, y: BFLOAT16) -> BFLOAT16:
    return op.MatMul(x, y) * 0.5 + op.Exp(x)


print(linear, blocked, eighths, brain)
