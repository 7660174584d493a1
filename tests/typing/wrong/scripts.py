"""Scripts are checked inside, and where they are called: on tensors, on arrays, and as models."""

import numpy as np

from onnxsmith import FLOAT, INT64, Dim, jit, script
from onnxsmith import opset18 as op

N = Dim("N")


@script
def double(x: FLOAT[N]) -> FLOAT[N]:
    return x + x


@script
def scaled(x: FLOAT[N], i: INT64[N], alpha: float = 1.0) -> FLOAT[N]:
    y = op.Add(x, i)  # error
    z = x * i  # error
    double(i)  # error
    double(x, x)  # error
    scaled(x)  # error
    double(x, beta=1)  # error
    double.to_onnx()  # error
    return double(x).argmax()  # error


@script(opsets=op)  # error
def other(x: FLOAT[N]) -> FLOAT[N]:
    return x


scaled.to_model_proto(18)  # error
scaled.to_model(opset=18)  # error
scaled.to_model(alpha=2.0)  # error
scaled.to_model(input_names=3)  # error
scaled.to_model(metadata={"author": 3})  # error
scaled.to_model(name=b"net")  # error
scaled.to_model_proto(outputs=["y"])  # error


@script
def mixed(x: FLOAT[N], b: FLOAT[N] | None = None, *, axis: int = 0, mode: str = "a") -> FLOAT[N]:
    scaled(x, i=3, alpha="a")  # error
    double("x")  # error
    return x


class Layer:
    @script
    def forward(self, x: FLOAT[N], i: INT64[N], alpha: float = 1.0) -> FLOAT[N]:
        return scaled(x, i, 2.0, 3.0)  # error


x = np.ones(3, dtype=np.float32)
i = np.ones(3, dtype=np.int64)
scaled(x)  # error
scaled(x, i, beta=1)  # error
scaled(x, i, alpha="a")  # error
scaled(x, i, "a")  # error
scaled(x, i, 1.0, 2.0)  # error
scaled("x", i)  # error
double(x, x)  # error
double(x, alpha=2.0)  # error
mixed(x, x, 1)  # error
mixed(x, axis="a")  # error
mixed(x, axis=1.5)  # error
mixed(x, mode=1)  # error
mixed(x, axes=1)  # error
Layer().forward(x)  # error
Layer().forward(x, i, beta=1)  # error
Layer().forward(x, i, alpha="a")  # error
Layer().forward(x, i, 1.0, 2.0)  # error
fast = jit(scaled)
fast(x)  # error
fast(x, i, beta=1)  # error
fast(x, i, alpha="a")  # error
fast(x, i, 1.0, 2.0)  # error
scaled.jit(x)  # error
scaled.jit(x, i, alpha="a")  # error
