"""The readme's example, and lambdas of several arities; their parameters have the types that trace is given."""

import numpy as np

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op

model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
print(model(np.ones((2, 4), np.float32), np.ones((4, 8), np.float32)).shape)

one = trace(lambda x: x * 2, FLOAT["N"])
three = trace(
    lambda x, i, y: op.Gather(x, i, axis=0) + op.Gather(y, i), FLOAT["N", 3], INT64[2], FLOAT["N", 3]
)
several = trace(lambda x: (x.max(), x.min()), FLOAT["N"])
listed = trace(lambda x: [x + 1, x - 1], FLOAT["N"])
named = trace(
    lambda x: -x, FLOAT["N"], input_names=["x"], output_names=["y"], name="negate", opset_version=20
)
example = trace(lambda x: op.Relu(x) + 1, np.ones((2, 2), np.float32))
print(one, three, several, listed, named, example)
