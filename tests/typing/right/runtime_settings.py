"""How operators run eagerly, and what can go wrong."""

import numpy as np

import onnxsmith
from onnxsmith import runtime, errors
from onnxsmith import opset21 as op

x = np.ones((2, 2), dtype=np.float32)

with onnxsmith.runtime.using(providers=["CPUExecutionProvider"]):
    print(op.Relu(x))
with runtime.using(runtime="reference", intra_op_threads=1) as settings:
    print(settings.runtime, op.Relu(x))

try:
    op.MatMul(x, np.ones((3, 3), np.float32))
except (errors.ShapeError, onnxsmith.errors.MixedDTypesError) as error:
    print(error.code)
except errors.OnnxsmithError as error:
    print(error.message, error.help)
