"""Models of paddle2onnx: layers of PaddlePaddle, exported by its own `paddle.onnx.export`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import paddle

from benchmarks.foreign.making import Made, Maker, normal

_N = paddle.nn
_LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "linear": (lambda: _N.Linear(6, 4), (3, 6)),
    "conv2d": (lambda: _N.Conv2D(3, 4, 3, stride=2, padding=1), (2, 3, 9, 9)),
    "conv2d transpose": (lambda: _N.Conv2DTranspose(3, 4, 3, stride=2), (2, 3, 5, 5)),
    "batch norm": (lambda: _N.BatchNorm2D(4), (2, 4, 6, 6)),
    "layer norm": (lambda: _N.LayerNorm(8), (3, 5, 8)),
    "group norm": (lambda: _N.GroupNorm(2, 4), (2, 4, 6, 6)),
    "max pool": (lambda: _N.MaxPool2D(2), (2, 3, 8, 8)),
    "adaptive pool": (lambda: _N.AdaptiveAvgPool2D(1), (2, 3, 8, 8)),
    "gelu": (lambda: _N.GELU(), (3, 6)),
    "hard swish": (lambda: _N.Hardswish(), (3, 6)),
    "softmax": (lambda: _N.Softmax(), (3, 6)),
    "up sampling": (lambda: _N.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 4, 4)),
    "lstm": (lambda: _N.LSTM(3, 5), (2, 7, 3)),
    "sequential": (lambda: _N.Sequential(_N.Linear(6, 8), _N.ReLU(), _N.Linear(8, 2)), (3, 6)),
    "transformer layer": (lambda: _N.TransformerEncoderLayer(8, 2, 16, dropout=0.0), (2, 5, 8)),
}


def _exported(build: Callable[[], Any], shape: tuple[int, ...]) -> Maker:
    def make() -> Made:
        paddle.seed(25)
        layer = build()
        layer.eval()
        given = normal(*shape)
        found = layer(paddle.to_tensor(given))
        outputs = found if isinstance(found, list | tuple) else [found]
        with tempfile.TemporaryDirectory() as folder:
            spec = [paddle.static.InputSpec([None, *shape[1:]], "float32", "x")]
            paddle.onnx.export(layer, str(Path(folder, "m")), input_spec=spec, opset_version=15)
            proto = onnx.load(Path(folder, "m.onnx"))
        return Made(proto, [given], [each.numpy() for each in _flat(outputs)])

    return make


def _flat(outputs: Any) -> list[Any]:
    if not isinstance(outputs, list | tuple):
        return [outputs]
    return [each for part in outputs for each in _flat(part)]


MODELS: dict[str, Maker] = {f"paddle2onnx {name}": _exported(*each) for name, each in _LAYERS.items()}
