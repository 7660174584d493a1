"""Opsets as attributes and as modules, operators by name."""

from collections.abc import Callable

import numpy as np

import onnxsmith
import onnxsmith as osm
from onnxsmith.opset.opset21 import MatMul, Softmax

x = np.ones((2, 2), dtype=np.float32)
print(
    onnxsmith.opset21.Relu(x),
    osm.opset_ai_onnx_ml5.Scaler(x, scale=[1.0], offset=[0.0]),
    Softmax(MatMul(x, x)),
)
print(onnxsmith.opset21.version, osm.opset_ai_onnx_ml5.domain, osm.DType.FLOAT.numpy, osm.__version__)
model = onnxsmith.trace(lambda a: onnxsmith.opset21.Relu(a), onnxsmith.FLOAT["N"])
operators: list[Callable[[np.ndarray], np.ndarray]] = [
    osm.opset21.Relu,
    osm.opset21.Sigmoid,
    osm.opset21.Tanh,
]
for operator in operators:
    print(operator(x))
