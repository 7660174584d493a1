"""Small models whose kernels are known: fused, inlined, folded, nested, quantised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from onnx import parser

from onnxsmith import FLOAT, FLOAT16, INT64, UINT8, Model, script, trace
from onnxsmith import opset21 as op

Inputs = dict[str, NDArray[np.generic]]


def floats(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).random(shape, dtype=np.float32)


def convolution() -> tuple[Model, Inputs]:
    weight, one = floats(8, 3, 3, 3), floats(8)

    def forward(x):
        y = op.Conv(x, weight, pads=[1, 1, 1, 1])
        y = op.BatchNormalization(y, one, one, one, one)
        return op.Relu(y)

    return trace(forward, FLOAT["N", 3, 16, 16]), {"x": floats(1, 3, 16, 16)}


def attention() -> tuple[Model, Inputs]:
    weights, bias = [floats(32, 32) for _ in range(4)], floats(32)

    def heads(x, weight):
        return op.Transpose(op.Reshape(x @ weight + bias, [0, 0, 4, 8]), perm=[0, 2, 1, 3])

    def forward(x):
        q, k, v = (heads(x, each) for each in weights[:3])
        scores = op.Softmax(q @ op.Transpose(k, perm=[0, 1, 3, 2]) * 0.35)
        y = op.Reshape(op.Transpose(scores @ v, perm=[0, 2, 1, 3]), [0, 0, 32])
        return op.LayerNormalization(x + (y @ weights[3] + bias), bias, bias)

    return trace(forward, FLOAT["N", 6, 32]), {"x": floats(2, 6, 32)}


def linear() -> tuple[Model, Inputs]:
    """ONNX Runtime makes one Gemm of it, between reshapes of its own."""
    weight, bias = floats(32, 16), floats(16)
    return trace(lambda x: op.Exp(op.Exp(x) @ weight + bias), FLOAT[2, 6, 32]), {"x": floats(2, 6, 32)}


def decided() -> tuple[Model, Inputs]:
    """The branch is known before the run, and stands in the place of the If then."""
    text = """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[4, 8] x) => (float[4, 8] y) <bool c = {1}> {
            a = Exp(x)
            b = If(c) <
                then_branch = t () => (float[4, 8] r) { p = Neg(a)  r = Tanh(p) },
                else_branch = e () => (float[4, 8] q) { q = Abs(a) }
            >
            y = Exp(b)
        }
    """
    model = parser.parse_model(text)
    for place, node in enumerate(model.graph.node):
        node.metadata_props.add(key="onnxsmith.source", value=f"programs.py:{place + 1}:1-{place + 1}:2")
        for attribute in node.attribute:
            for inner in attribute.g.node:
                inner.metadata_props.add(key="onnxsmith.source", value="programs.py:9:1-9:2")
    return Model.from_proto(model), {"x": floats(4, 8)}


@script
def activation(x: FLOAT[...]):
    return op.Relu(x) * 2.0


@script
def flowing(x: FLOAT["N", 8], n: INT64):
    y = x + 1.0
    for _ in range(n):
        y = activation(y @ x)
    if op.ReduceSum(y, keepdims=0) > 0.0:
        y = op.Softmax(y)
    else:
        y = op.Tanh(y)
    return activation(y)


def control_flow() -> tuple[Model, Inputs]:
    return flowing.to_model(), {"x": floats(8, 8), "n": np.array(3)}


GATE, SHIFT = floats(32, 32), floats(32)


@script
def layer(x: FLOAT["N", 32]):
    y = x @ GATE + SHIFT
    return op.Gelu(y)


@script
def layers(x: FLOAT["N", 32], n: INT64):
    x = layer(layer(x))
    for _ in range(n):
        x = layer(x)
    return x


def called_twice() -> tuple[Model, Inputs]:
    """One function at two places, and in a loop; its product and sum are fused at each."""
    return layers.to_model(), {"x": floats(4, 32), "n": np.array(2)}


def quantised() -> tuple[Model, Inputs]:
    weight = np.random.default_rng(0).integers(0, 255, (16, 16)).astype(np.uint8)
    scale, zero = np.float32(0.01), np.uint8(128)

    def forward(x):
        y = op.DequantizeLinear(x, scale, zero) @ op.DequantizeLinear(weight, scale, zero)
        return op.QuantizeLinear(y, scale, zero)

    return trace(forward, UINT8["N", 16]), {"x": np.ones((4, 16), np.uint8)}


def repeated() -> tuple[Model, Inputs]:
    """The same is computed twice: one of the two is enough."""
    return trace(lambda x: op.Exp(x) * op.Neg(op.Exp(x)), FLOAT["N"]), {"x": floats(16)}


def half() -> tuple[Model, Inputs]:
    """ONNX Runtime has no kernel for all of it, and puts casts around."""
    model = trace(lambda x: op.Softmax(op.Exp(x) + x), FLOAT16["N", 8])
    return model, {"x": floats(4, 8).astype(np.float16)}


def folded() -> tuple[Model, Inputs]:
    """Sizes are known before the run."""
    return trace(lambda x: op.Reshape(op.Exp(x), op.Shape(x)[::-1]), FLOAT[4, 8]), {"x": floats(4, 8)}


_EVERY = (
    convolution,
    attention,
    linear,
    decided,
    control_flow,
    called_twice,
    quantised,
    repeated,
    half,
    folded,
)
PROGRAMS: dict[str, Callable[[], tuple[Model, Inputs]]] = {each.__name__: each for each in _EVERY}
