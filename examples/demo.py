"""A tour in one file: call operators, record them as a model, save it, load it, run it. `python3 dev.py demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from onnxsmith import FLOAT, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError


@script
def first_above(x: FLOAT["N"], limit: FLOAT) -> FLOAT:
    """The first element above a limit, or the limit."""
    for value in x:
        if value > limit:
            return value
    return limit


def main() -> None:
    """Print each step and what it gives."""
    generator = np.random.default_rng(0)
    x = generator.random((2, 4), dtype=np.float32)
    w = generator.random((4, 3), dtype=np.float32)

    print("1. Operators are functions: numpy in, numpy out.\n")
    print("op.Softmax(op.MatMul(x, w), axis=-1) =")
    print(op.Softmax(op.MatMul(x, w), axis=-1))

    print("\n2. The same calls on types are recorded as a model.\n")
    model = trace(lambda a: op.Softmax(a @ w + 1.0, axis=-1), FLOAT["N", 4])
    print(model.text())

    print("\n3. A model is saved, loaded and called.\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        model.save(path)
        print(f"{path.name}: {path.stat().st_size} bytes")
        print(Model.load(path)(x))

    print("\n4. A Python function is a model, loops and branches included.\n")
    series, limit = np.array([1, 4, 9, 16], dtype=np.float32), np.float32(5)
    print("eagerly:", first_above(series, limit), " as a model:", first_above.to_model()(series, limit))
    print(first_above.to_model().text())

    print("\n5. A mistake is shown where it was made.\n")
    try:
        op.Add(x, np.array([1, 2, 3, 4]))
    except OnnxsmithError as error:
        print(error)


if __name__ == "__main__":
    main()
