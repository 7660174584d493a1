"""The files that each task begins with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from onnxsmith import FLOAT, INT64, Dim, Model, opset18, opset21, script, trace
from onnxsmith import opset21 as op

_RNG = np.random.default_rng(17)


def _weights(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _normalise(folder: Path) -> None:
    first, second = _weights(16, 8), _weights(8, 5)
    model = trace(
        lambda image: op.Softmax(op.Relu(image @ first) @ second),
        FLOAT["batch", 16],
        input_names=["image"],
        output_names=["scores"],
    )
    model.save(folder / "classifier.onnx")


def _nothing(folder: Path) -> None:
    pass


def _merge(folder: Path) -> None:
    middle, weight = _weights(6), _weights(6, 3)

    def prepare(raw):
        hidden = opset18.Sub(raw, middle)
        return opset18.Tanh(hidden)

    def network(x):
        hidden = opset21.MatMul(x, weight)
        return opset21.Softmax(hidden)

    for function, name, result in ((prepare, "prepare", "features"), (network, "network", "scores")):
        model = trace(function, FLOAT["N", 6], output_names=[result])
        inside = "sub" if name == "prepare" else "mat_mul"
        model.rename({inside: "hidden"}).save(folder / f"{name}.onnx")


def _external(folder: Path) -> None:
    weight = _weights(128, 128)
    trace(lambda x: op.Relu(x @ weight), FLOAT["N", 128]).save(folder / "network.onnx")


def _batches(folder: Path) -> None:
    weight = _weights(4, 3)

    @script
    def network(x: FLOAT[Dim("rows", min=1, max=64), 4]):
        if x.shape[0] > 64:
            return op.Neg(x @ weight)
        return op.Tanh(x @ weight)

    network.to_model().save(folder / "network.onnx")
    np.save(folder / "rows.npy", _weights(1000, 4))


def _inspect(folder: Path) -> None:
    embedding, head = _weights(32, 8), _weights(8, 4)

    @script
    def network(tokens: INT64["T"], turns: INT64):
        x = op.Gather(embedding, tokens)
        for _ in range(turns):
            x = op.Tanh(x)
        return op.Softmax(x @ head)

    network.to_model(output_names=["scores"]).save(folder / "network.onnx")


def _rename(folder: Path) -> None:
    weights = {"onnx::MatMul_7": _weights(6, 4), "onnx::Add_8": _weights(4)}
    first, second = weights.values()
    model = trace(lambda x: op.Relu(x @ first + second), FLOAT["N", 6])
    names = {model.inputs[0].name: "onnx::MatMul_0", "first": "onnx::MatMul_7", "second": "onnx::Add_8"}
    model.rename({**names, model.outputs[0].name: "12"}).save(folder / "network.onnx")


def _batch(folder: Path) -> None:
    weight = _weights(8, 3)
    model = trace(
        lambda picture: op.Softmax(op.Reshape(picture, [1, 8]) @ weight),
        FLOAT[1, 2, 4],
        input_names=["picture"],
        output_names=["scores"],
    )
    model.save(folder / "fixed.onnx")


def _compare(folder: Path) -> None:
    weight = _weights(6, 6)

    def chain(alpha: float) -> Model:
        def network(x):
            first = op.LayerNormalization(x @ weight, np.ones(6, np.float32))
            second = op.LeakyRelu(first, alpha=alpha)
            return op.Softmax(second @ weight)

        model = trace(network, FLOAT["N", 6])
        return model.rename({"leaky_relu": "activated", "layer_normalization": "normalised"})

    chain(0.01).save(folder / "before.onnx")
    chain(0.02).save(folder / "after.onnx")


GIVEN: dict[str, Callable[[Path], None]] = {
    "normalise": _normalise,
    "nms": _nothing,
    "average": _nothing,
    "merge": _merge,
    "external": _external,
    "batches": _batches,
    "inspect": _inspect,
    "rename": _rename,
    "batch": _batch,
    "compare": _compare,
}
