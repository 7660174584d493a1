"""Opsets as attributes and as modules, operators by name."""

from collections.abc import Callable

import numpy as np

import onnxsmith as osm
import onnxsmith.opset21
import onnxsmith.opset_ai_onnx_ml5 as ml
from onnxsmith.opset21 import MatMul, Softmax

x = np.ones((2, 2), dtype=np.float32)
print(
    onnxsmith.opset21.Relu(x),
    ml.Scaler(x, scale=[1.0], offset=[0.0]),
    Softmax(MatMul(x, x)),
)
print(onnxsmith.opset21.version, ml.domain, osm.DType.FLOAT.numpy, osm.__version__)
model = onnxsmith.trace(lambda a: onnxsmith.opset21.Relu(a), onnxsmith.FLOAT["N"])
operators: list[Callable[[np.ndarray], np.ndarray]] = [
    onnxsmith.opset21.Relu,
    onnxsmith.opset21.Sigmoid,
    onnxsmith.opset21.Tanh,
]
for operator in operators:
    print(operator(x))
