"""numpy's methods on tensors, with the types numpy would give."""

import numpy as np

from onnxsmith import BOOL, DOUBLE, FLOAT, INT32, INT64, UINT8, DType
from onnxsmith import opset21 as op


def floats(x: FLOAT["N", 4]) -> FLOAT[...]:
    a: FLOAT = x.reshape(2, -1).reshape((4, -1)).reshape([8])
    b: FLOAT = x.transpose().transpose(1, 0).T
    c: FLOAT = x.sum() + x.sum(axis=0, keepdims=True) + x.mean((0, 1)) + x.prod(1)
    d: FLOAT = x.max(-1) - x.min(axis=1)
    e: INT64 = x.argmax() + x.argmin(axis=1)
    f: FLOAT = x.clip(0, 1).clip(min=x).clip(max=2.5)
    g: FLOAT = x.squeeze().squeeze(0).squeeze(axis=(0, 1)).flatten()
    h: BOOL = (x > 0).any() | (x < 0).all(axis=0)
    i: INT64 = x.astype(INT64)
    j: FLOAT = x.astype(np.float32).astype(FLOAT)
    k: FLOAT = x.astype(DType.FLOAT).astype(FLOAT)
    return a + b + c + d + f + g + j + k + (e + i).astype(FLOAT) + op.Cast(h, to=FLOAT)


def integers(i: INT32, u: UINT8, b: BOOL) -> DOUBLE:
    total: INT64 = i.sum() + b.sum()
    return i.mean() + u.mean() + b.mean() + total.astype(DOUBLE) + u.sum().astype(DOUBLE)


def facts(x: FLOAT["N", 4]) -> INT64:
    rank: int = x.ndim
    dtype: DType = x.dtype
    n, m = x.shape
    return op.Size(x) + n * m + rank + int(dtype) + len(x.shape) + x.shape[0] + x.size


def values(x: FLOAT, i: INT64, b: BOOL) -> tuple[float, int, bool]:
    array = x.numpy()
    print(array.shape, array.sum())
    return x.item(), i.item(), b.item()


print(floats, integers, facts, values)
