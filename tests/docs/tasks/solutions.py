"""A solution of each task, with what its page says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import onnxsmith
from onnxsmith import FLOAT, UINT8, script, trace
from onnxsmith import opset21 as op


def _normalise(folder: Path) -> None:
    def prepare(pixels):
        return (op.Cast(pixels, to=FLOAT) / 255.0 - 0.5) / 0.25

    def choose(scores):
        return op.ArgMax(scores, axis=-1, keepdims=0)

    classifier = onnxsmith.load(folder / "classifier.onnx")
    front = trace(prepare, UINT8["batch", 16], input_names=["pixels"], output_names=["image"])
    behind = trace(choose, FLOAT["batch", 5], input_names=["scores"], output_names=["label"])
    onnxsmith.compose(front, classifier, behind).save(folder / "camera.onnx")


@script
def _keep(boxes: FLOAT["N", 4], scores: FLOAT["N"]):
    chosen = op.NonMaxSuppression(boxes[None], scores[None, None], scores.shape[0], 0.5, 0.3)
    return chosen[:, 2]


def _nms(folder: Path) -> None:
    _keep.to_model(output_names=["keep"]).save(folder / "nms.onnx")


@script
def _smoothed(x: FLOAT["N"], alpha: FLOAT):
    y = x
    state = x[0]
    for i in range(x.shape[0]):
        state = alpha * x[i] + (1.0 - alpha) * state
        y = y.at[i].set(state)
    return y


def _average(folder: Path) -> None:
    _smoothed.to_model(output_names=["y"]).save(folder / "average.onnx")


def _merge(folder: Path) -> None:
    network = onnxsmith.load(folder / "network.onnx")
    prepare = onnxsmith.load(folder / "prepare.onnx").convert_version(21)
    prepare.then(network, map={"features": "x"}).save(folder / "whole.onnx")


def _external(folder: Path) -> None:
    onnxsmith.load(folder / "network.onnx").save(folder / "small.onnx", external_data="small.weights")


def _batches(folder: Path) -> None:
    model, rows = onnxsmith.load(folder / "network.onnx"), np.load(folder / "rows.npy")
    results = [model(rows[start : start + 64]) for start in range(0, len(rows), 64)]
    np.save(folder / "results.npy", np.concatenate(results))


def _inspect(folder: Path) -> None:
    model = onnxsmith.load(folder / "network.onnx")
    facts = {
        "inputs": [each.name for each in model.inputs],
        "outputs": [each.name for each in model.outputs],
        "operators": Counter(node.op_type for node in model.nodes),
        "parameters": sum(array.size for array in model.weights.values()),
        "largest": max(model.weights, key=lambda name: model.weights[name].size),
    }
    (folder / "facts.json").write_text(json.dumps(facts))


def _rename(folder: Path) -> None:
    model = onnxsmith.load(folder / "network.onnx")
    weights = {name: f"layer.{name}" for name in model.weights}
    model.rename(
        weights, inputs={model.inputs[0].name: "tokens"}, outputs={model.outputs[0].name: "logits"}
    ).save(folder / "named.onnx")


def _batch(folder: Path) -> None:
    model = onnxsmith.load(folder / "fixed.onnx")
    (shape,) = (name for name in model.weights if model.weights[name].tolist() == [1, 8])
    opened = model.replace_weights({shape: np.array([-1, 8])}).with_shapes(picture=("batch", 2, 4))
    opened.save(folder / "open.onnx")


def _compare(folder: Path) -> None:
    before, after = (onnxsmith.load(folder / name) for name in ("before.onnx", "after.onnx"))
    (folder / "answer.txt").write_text(str(onnxsmith.compare(before, after).value))


SOLUTIONS: dict[str, Callable[[Path], None]] = {
    "normalise": _normalise,
    "nms": _nms,
    "average": _average,
    "merge": _merge,
    "external": _external,
    "batches": _batches,
    "inspect": _inspect,
    "rename": _rename,
    "batch": _batch,
    "compare": _compare,
}
