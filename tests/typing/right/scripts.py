"""Scripts keep their signature, run on arrays, and call each other."""

import numpy as np
import onnx

from onnxsmith import BOOL, FLOAT, INT64, Dim, Model, OnnxFunction, Opset, graph, jit, script, static_range
from onnxsmith import opset18 as op

N = Dim("N")


@script
def gelu(x: FLOAT[...]) -> FLOAT[...]:
    return x * 0.5 * (op.Erf(x / 1.4142135) + 1.0)


@script(default_opset=op)
def linear(x: FLOAT[N, 4], w: FLOAT[4, 8], scale: float = 1.0) -> FLOAT[N, 8]:
    y = x @ w
    if y.sum() > 0:
        y = y * scale
    else:
        y = -y
    for i in range(3):
        y = y + i
    for k in static_range(2):
        y = y * (k + 1)
    while y.max() < 1.0:
        y += 1.0
    return gelu(y)


@script(Opset("my.functions", 1))
def cumulative(xs: FLOAT[N, 4]) -> FLOAT[N, 4]:
    @graph()
    def body(total: FLOAT[4], x: FLOAT[4]) -> tuple[FLOAT[4], FLOAT[4]]:
        new = total + x
        return new, new

    _, sums = op.Scan(xs[0], xs, body=body, num_scan_inputs=1)
    return sums


class Layer:
    def __init__(self) -> None:
        self.weight = np.ones((4, 8), dtype=np.float32)

    @script
    def forward(self, x: FLOAT[N, 4]) -> FLOAT[N, 8]:
        return linear(x, self.weight, scale=2.0)


@script()
def choose(flag: BOOL, x: FLOAT[N], k: INT64) -> FLOAT[N]:
    return op.Where(flag, x, x * op.Cast(k, to=FLOAT))


x = np.ones((2, 4), dtype=np.float32)
w = np.ones((4, 8), dtype=np.float32)
out: np.ndarray = linear(x, w)
print(
    out.shape,
    linear(x, w, scale=0.5).sum(),
    gelu(x),
    jit(gelu)(x),
    gelu.jit(x),
    Layer().forward(x),
    cumulative(x),
)
proto: onnx.ModelProto = linear.to_model_proto(opset_version=18)
model: Model = gelu.to_model(input_types=[FLOAT["N"]])
function: OnnxFunction = gelu
print(function.name, gelu.to_function_proto().name, model, choose.opset_version, choose(True, x[0], 3))

named: Model = linear.to_model(
    attributes={"scale": 2.0},
    input_names=["images", "weights"],
    output_names={"gelu": "activations"},
    name="net",
    doc_string="A layer.",
    metadata={"author": "me"},
)
print(named.inputs[0].name, named.outputs[0].name)


@script
def normalised(x: FLOAT[N], bias: FLOAT[N] | None = None, *, axis: int = 0) -> tuple[FLOAT[N], INT64[1]]:
    y = x / op.ReduceMax(x, [axis], keepdims=1)
    return y if bias is None else y + bias, op.Shape(x)


@script
def pick(xs: list[FLOAT[N]], k: INT64, offset: float) -> FLOAT[N]:
    return op.SequenceAt(xs, k) + offset


row = x[0]
print(
    linear(x, w, 2.0),
    linear(x, [[1.0] * 8] * 4),
    gelu(2.0),
    choose(False, [1.0, 2.0], k[0] if (k := [3]) else 0),
)
print(normalised(row)[0], normalised(row, row, axis=0)[1], normalised(row, None), normalised(row, bias=None))
print(linear(x=x, w=w), linear(x=x, w=w, scale=0.5), pick([row, row], 1, 2.0), Layer().forward(x).sum())
fast = jit(linear)
print(fast(x, w).shape, fast(x, w, scale=2.0), linear.jit(x, w, 2.0), normalised.jit(row))
