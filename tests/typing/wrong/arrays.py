"""Arrays are not tensors, and operators check their keywords on arrays too."""

import numpy as np

from onnxsmith import FLOAT
from onnxsmith import opset21 as op

x = np.ones((2, 3), dtype=np.float32)
y = op.Softmax(op.MatMul(x, x.T), axis=-1)
y.relu()  # error
op.Softmax(x, axis="rows")  # error
op.Conv(x, x, auto_pad="SAME")  # error
op.Softmax(x, dim=1)  # error
op.Cast(x)  # error
op.Gather(x, 1.5)  # error
z: FLOAT = op.Relu(x)  # error
count: int = op.Relu(x)  # error
print(z, count)
