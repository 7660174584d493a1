"""Scripts that people write first: an activation, two layers, a lagged series, a loss, captured weights.

Run it: `python examples/scripts.py`.
"""

from __future__ import annotations

import math

import numpy as np

from onnxsmith import FLOAT, OnnxFunction, script
from onnxsmith import opset18 as op

M_SQRT1_2 = math.sqrt(0.5)


@script
def gelu(X: FLOAT[...]) -> FLOAT[...]:
    """The Gaussian error linear unit."""
    phiX = 0.5 * (op.Erf(M_SQRT1_2 * X) + 1.0)
    return X * phiX


@script
def simple(A: FLOAT["N", "M"], W: FLOAT["M", "C"], Bias: FLOAT["C"]) -> FLOAT["N", "C"]:
    """A layer that calls another script: in the model, a call of the ONNX function `gelu`."""
    return gelu(A @ W + Bias)


@script
def lagged(x: FLOAT["N"]) -> FLOAT[None]:
    """The difference to the value two steps before."""
    return x[2:] - x[:-2]


@script
def square_loss(X: FLOAT["N", 1], Y: FLOAT["N", 1]) -> FLOAT[1, 1]:
    """The sum of squared differences."""
    diff = X - Y
    return op.ReduceSum(diff * diff, keepdims=1)


def make_layer(weight: np.ndarray, bias: np.ndarray) -> OnnxFunction[..., FLOAT]:
    """A script over arrays from outside: they become the model's weights, under these names."""

    @script
    def layer(x: FLOAT["N", 4]) -> FLOAT["N", 2]:
        return gelu(x @ weight + bias)

    return layer


def main() -> None:
    """Run each eagerly and as a model, and show that they agree."""
    generator = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return generator.random(shape, dtype=np.float32)

    layer = make_layer(random(4, 2), random(2))
    for function, inputs in (
        (gelu, [random(5)]),
        (simple, [random(3, 4), random(4, 2), random(2)]),
        (lagged, [random(6)]),
        (square_loss, [random(5, 1), random(5, 1)]),
        (layer, [random(3, 4)]),
    ):
        model = function.to_model()
        difference = np.abs(function(*inputs) - model(*inputs)).max()
        print(f"{function.name}: {model!r}, eager and compiled differ by {difference:.1e}")


if __name__ == "__main__":
    main()
