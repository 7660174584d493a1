"""Attributes that name an element type take a type, its dtype, ONNX's code or numpy's."""

import numpy as np
import onnx

from onnxsmith import BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, UINT8, DType, Tensor
from onnxsmith import opset21 as op


def casts(x: FLOAT) -> INT64:
    a: INT64 = op.Cast(x, to=INT64)
    b: BOOL = op.Cast(op.Cast(a, to=FLOAT16), to=BOOL)
    c: Tensor = op.Cast(x, to=INT64.dtype)
    d: Tensor = op.Cast(x, to=DType.DOUBLE)
    e: Tensor = op.Cast(x, to=onnx.TensorProto.INT64)
    f: Tensor = op.Cast(x, to=np.int64)
    g: Tensor = op.Cast(x, to=7)
    return (
        a
        + op.Cast(b, to=INT64)
        + op.Add(c, a)
        + e.astype(INT64)
        + f.astype(INT64)
        + op.Cast(d, to=INT64)
        + g.astype(INT64)
    )


def others(x: FLOAT, n: INT64) -> DOUBLE:
    noise: DOUBLE = op.RandomNormalLike(x, dtype=DOUBLE)
    like: FLOAT = op.RandomUniformLike(x)
    eye: INT32 = op.EyeLike(x, dtype=INT32)
    window: FLOAT = op.HannWindow(n)
    wide: DOUBLE = op.HannWindow(n, output_datatype=DOUBLE)
    draws: INT64 = op.Multinomial(like, sample_size=3, dtype=INT64)
    quantized: UINT8 = op.QuantizeLinear(x, 0.1, output_dtype=UINT8)
    back: FLOAT = op.DequantizeLinear(quantized, np.float32(0.1)).astype(FLOAT)
    return noise + wide + (like + window + back).astype(DOUBLE) + eye.astype(DOUBLE) + draws.astype(DOUBLE)


array = op.Cast(np.ones(3, np.float32), to=INT64)
random = op.RandomNormal(shape=[2, 3], dtype=FLOAT)
print(array.sum(), random.shape, casts, others)
