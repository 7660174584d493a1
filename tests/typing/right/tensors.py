"""Eager tensors from arrays, numbers and lists."""

import numpy as np

from onnxsmith import BFLOAT16, BOOL, DOUBLE, FLOAT, INT8, INT64, STRING, DType, Tensor, tensor
from onnxsmith import opset21 as op

a: FLOAT = tensor(np.ones(3, dtype=np.float32))
b: DOUBLE = tensor(np.ones(3))
c: INT64 = tensor([1, 2, 3])
d: FLOAT = tensor([[1.0, 2], [3, 4]])
e: BOOL = tensor([True, False])
f: STRING = tensor("text")
g: INT8 = tensor([1, 2], INT8)
h: BFLOAT16 = tensor(a, dtype=BFLOAT16)
i: Tensor = tensor([1], dtype=DType.UINT8)
j: Tensor = tensor(op.Relu(np.ones(3, np.float32)))
k: FLOAT = tensor(1.5)

print(
    op.Add(a, k),
    a * 2 + k,
    op.Mul(i, j.astype(DType.UINT8)),
    b.numpy().dtype,
    c,
    d @ d,
    e & True,
    f == "text",
    g,
    h,
)
