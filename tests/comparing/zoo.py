"""Ten small models of ten kinds, for faults to be planted in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import parser

from onnxsmith import BOOL, FLOAT, FLOAT16, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith import opset_ai_onnx_ml3 as ml

GENERATOR = np.random.default_rng(11)


def weight(*shape: int, scale: float = 0.5) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (GENERATOR.standard_normal(shape) * scale).astype(np.float32)


def cnn() -> Model:
    kernels = [weight(6, 3, 3, 3), weight(8, 6, 3, 3), weight(8, 8, 1, 1)]
    norms = [(weight(n) + 1, weight(n), weight(n), np.abs(weight(n)) + 0.5) for n in (6, 8)]
    head, bias = weight(8, 10), weight(10)

    def run(x: Any) -> Any:
        y = op.Relu(op.BatchNormalization(op.Conv(x, kernels[0], pads=[1, 1, 1, 1]), *norms[0]))
        y = op.MaxPool(y, kernel_shape=[2, 2], strides=[2, 2])
        z = op.LeakyRelu(
            op.BatchNormalization(op.Conv(y, kernels[1], pads=[1, 1, 1, 1]), *norms[1]), alpha=0.1
        )
        z = z + op.Conv(z, kernels[2])
        z = op.Flatten(op.GlobalAveragePool(z))
        return op.Softmax(op.Gemm(z, head, bias), axis=-1)

    return trace(run, FLOAT[2, 3, 8, 8])


def transformer() -> Model:
    width, heads, length = 16, 4, 6
    projections = [weight(width, width) for _ in range(4)]
    gain, shift, up, down = weight(width) + 1, weight(width), weight(width, 32), weight(32, width)
    biases = [weight(width) for _ in range(4)]

    def norm(x: Any) -> Any:
        mean = op.ReduceMean(x, [-1])
        centred = x - mean
        variance = op.ReduceMean(centred * centred, [-1])
        return centred / op.Sqrt(variance + 1e-5) * gain + shift

    def split(x: Any) -> Any:
        return op.Transpose(op.Reshape(x, [0, length, heads, width // heads]), perm=[0, 2, 1, 3])

    def run(x: Any) -> Any:
        y = norm(x)
        q, k, v = (split(y @ each + bias) for each, bias in zip(projections[:3], biases[:3], strict=True))
        scores = op.Softmax(q @ op.Transpose(k, perm=[0, 1, 3, 2]) * 0.5, axis=-1)
        mixed = op.Reshape(op.Transpose(scores @ v, perm=[0, 2, 1, 3]), [0, length, width])
        x = x + (mixed @ projections[3] + biases[3])
        hidden = norm(x) @ up
        active = hidden * 0.5 * (op.Erf(hidden / 1.4142135) + 1.0)
        return x + active @ down

    return trace(run, FLOAT[2, length, width])


def recurrent() -> Model:
    w, r, b = weight(1, 32, 4), weight(1, 32, 8), weight(1, 64)
    gw, gr = weight(1, 18, 8), weight(1, 18, 6)
    head = weight(6, 3)

    def run(x: Any) -> Any:
        y, _, _ = op.LSTM(x, w, r, b, hidden_size=8)
        y = op.Tanh(op.Squeeze(y, [1]) * 1.5)
        z, last = op.GRU(y, gw, gr, hidden_size=6)
        return op.Sigmoid(op.Squeeze(last, [0]) @ head) + op.ReduceMax(z)

    return trace(run, FLOAT[5, 2, 4])


INNER, OUTER = weight(4, 4), weight(4)


@script
def flow(x: FLOAT[3, 4], n: INT64, c: BOOL):
    total = x * 0.0
    for _ in range(n):
        x = op.Tanh(x @ INNER + OUTER)
        if c:
            x = x * 1.25
        else:
            x = op.Abs(x) - 0.5
        total = total + x
    if op.ReduceSum(total) > 100.0:
        total = op.Neg(total)
    else:
        total = op.Exp(total * 0.1)
    return total


def control_flow() -> Model:
    return flow.to_model()


def quantised() -> Model:
    scale, zero = np.float32(0.05), np.uint8(128)
    codes = GENERATOR.integers(-60, 60, (8, 6)).astype(np.int8)
    more = GENERATOR.integers(-60, 60, (6, 4)).astype(np.int8)
    # ONNX Runtime quantises the bias, too, when it optimises, by the scales of both factors: these numbers stay. No sum
    # of them is halfway between two codes of the result.
    bias = np.round(weight(6), 3)

    def run(x: Any) -> Any:
        x = op.DequantizeLinear(op.QuantizeLinear(x, scale, zero), scale, zero)
        y = x @ op.DequantizeLinear(codes, np.float32(0.02), np.int8(0)) + bias
        y = op.Relu(y)
        y = op.DequantizeLinear(op.QuantizeLinear(y, np.float32(0.0437), zero), np.float32(0.0437), zero)
        return y @ op.DequantizeLinear(more, np.float32(0.03), np.int8(0))

    return trace(run, FLOAT[5, 8])


def classical() -> Model:
    coefficients, offset, factor = weight(3 * 6), weight(6), np.abs(weight(6)) + 0.5

    def run(x: Any) -> Any:
        y = ml.Scaler(x, offset=[float(each) for each in offset], scale=[float(each) for each in factor])
        y = ml.Normalizer(y, norm="L2")
        scores = ml.LinearRegressor(
            y,
            coefficients=[float(each) for each in coefficients],
            intercepts=[0.1, -0.2, 0.3],
            targets=3,
            post_transform="NONE",
        )
        return op.Softmax(scores * 2.0) + op.ReduceMean(op.Log(op.Abs(y) + 1.0), [1])

    return trace(run, FLOAT[4, 6])


FIRST, SECOND = weight(6, 6), weight(6, 6)


@script
def layer(x: FLOAT[...], w: FLOAT[...], slope: float = 0.2):
    y = op.LeakyRelu(x @ w, alpha=slope)
    return y + op.Sigmoid(x)


@script
def stacked(x: FLOAT["N", 6]):
    y = layer(x, FIRST, slope=0.3)
    z = layer(op.Tanh(y), SECOND)
    return op.ReduceMean(z * 0.7, [1])


def functions() -> Model:
    return stacked.to_model()


def half() -> Model:
    first, second = weight(8, 16, scale=0.3).astype(np.float16), weight(16, 4, scale=0.3).astype(np.float16)
    shift = weight(16).astype(np.float16)

    def run(x: Any) -> Any:
        y = op.Elu(x @ first + shift, alpha=0.7)
        y = y * op.Sigmoid(y)
        return op.Softmax(y @ second, axis=1) - op.ReduceMean(y, [1])

    return trace(run, FLOAT16[6, 8])


def unet() -> Model:
    down, up, last = weight(6, 2, 3, 3), weight(6, 4, 2, 2), weight(3, 6, 1, 1)
    bias = weight(4)

    def run(x: Any) -> Any:
        y = op.Softplus(op.Conv(x, down, pads=[1, 1, 1, 1], strides=[2, 2]))
        y = op.ConvTranspose(y, up, bias, strides=[2, 2])
        y = op.Concat(y, op.Clip(x, -1.0, 1.0), axis=1)
        y = op.Pad(op.Conv(y, last), [0, 0, 1, 1, 0, 0, 1, 1])
        return op.AveragePool(op.HardSwish(y), kernel_shape=[2, 2], strides=[2, 2])

    return trace(run, FLOAT[1, 2, 8, 8])


def shapes() -> Model:
    table, w = weight(12, 6), weight(6, 5)

    def run(i: Any, x: Any) -> Any:
        rows = op.Gather(table, i) + op.Unsqueeze(x, [1])
        flat = op.Reshape(rows, [-1, 6]) @ w
        first, second = op.Split(flat, axis=1, split=[2, 3])
        both = op.Concat(op.Sin(first), op.Cos(second), axis=1)
        top = op.Slice(both, [0], [8], [0], [2])
        return op.CumSum(top, np.int64(1)) * op.Transpose(
            op.Reshape(op.ReduceSum(op.Abs(top), [1]), [1, -1]), perm=[1, 0]
        )

    return trace(run, INT64[2, 4], FLOAT[2, 6])


ZOO: dict[str, Callable[[], Model]] = {
    "cnn": cnn,
    "transformer": transformer,
    "recurrent": recurrent,
    "control_flow": control_flow,
    "quantised": quantised,
    "classical": classical,
    "functions": functions,
    "half": half,
    "unet": unet,
    "shapes": shapes,
}


def inputs_of(model: Model, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Inputs that every model runs on."""
    generator = np.random.default_rng(seed)
    found: dict[str, np.ndarray[Any, Any]] = {}
    for port in model.inputs:
        kind: Any = port.type
        shape = [each if isinstance(each, int) else 5 for each in kind.shape or ()]
        if kind.dtype.name == "BOOL":
            found[port.name] = np.array(True)
        elif kind.dtype.name == "INT64":
            found[port.name] = generator.integers(2, 5, shape)
        else:
            found[port.name] = generator.standard_normal(shape).astype(kind.dtype.numpy)
    return found


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def graph(text: str) -> Model:
    """The same, of a graph alone."""
    return parsed('<ir_version: 9, opset_import: ["": 18]>\n' + text)


def proto_of(model: Model) -> onnx.ModelProto:
    return model.proto
