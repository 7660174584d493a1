"""Decompile a model, change the Python, and compile it again.

Run it: `python examples/edit_a_model.py`, or with a model of your own: `python examples/edit_a_model.py model.onnx`.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np

from onnxsmith import FLOAT, Model, decompile_to, trace
from onnxsmith import opset21 as op


def make_network(path: Path) -> None:
    """Three layers, as somebody else may have written them."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal((8, 8), dtype=np.float32) for _ in range(3)]

    def network(x: FLOAT["N", 8]) -> FLOAT["N", 8]:
        for weight in weights:
            x = op.Gelu(x @ weight)
        return x

    trace(network, FLOAT["N", 8], output_names=["y"]).save(path)


def model_of(module: Path) -> Model:
    """The model that a decompiled module gives."""
    model = runpy.run_path(str(module))["model"]
    assert isinstance(model, Model)
    return model


def main(arguments: list[str]) -> None:
    """Show a model as Python, then the same with another activation."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[0]) if arguments else Path(folder) / "network.onnx"
        if not arguments:
            make_network(path)
        module = decompile_to(path, Path(folder) / "opened")
        text = module.read_text(encoding="utf-8")
        print(text)
        if arguments:
            return
        x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
        same = model_of(module)(x)
        print("unchanged, it computes the same:", np.array_equal(same, Model.load(path)(x)))
        module.write_text(text.replace("op.Gelu", "op.Relu"), encoding="utf-8")
        print("with Relu instead of Gelu:", model_of(module)(x)[0].round(2))


if __name__ == "__main__":
    main(sys.argv[1:])
