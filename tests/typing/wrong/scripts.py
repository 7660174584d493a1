"""Scripts are checked inside, and where they are called."""

from onnxsmith import FLOAT, INT64, Dim, script
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


@script(opset=op)  # error
def other(x: FLOAT[N]) -> FLOAT[N]:
    return x


scaled.to_model_proto(18)  # error
