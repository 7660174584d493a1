"""Gradients: how long it takes to make one, how large it is, and a step of training beside torch's on one thread."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "gradients"
DESCRIPTION = "gradients of large models, and steps of training on one thread (--set nodes=10000); CPU time"

#: Widths of perceptrons, the batch, and the bar beside torch.
_PERCEPTRONS = (
    ((64, 128, 128, 10), 32, 0.5),
    ((784, 512, 512, 10), 32, 1.0),
    ((1024, 2048, 2048, 1000), 32, 1.1),
)


def run(context: Context) -> list[Row]:
    """Rows for a deep chain of layers, perceptrons and a convolutional network."""
    return [*_of_large_models(int(context.number("nodes", 10_000))), *_of_functions(), *_steps(context)]


def _of_large_models(nodes: int) -> list[Row]:
    from onnxsmith import FLOAT, trace
    from onnxsmith import opset21 as op

    def deep(x: Any, w: Any) -> Any:
        h = x
        for _ in range(nodes // 5):
            h = op.Tanh(h @ w + 0.5) * 0.9 + x
        return op.ReduceSum(h * h, keepdims=0)

    model = trace(deep, FLOAT["N", 16], FLOAT[16, 16])
    count = len(model.ir.graph)
    trace(lambda x: op.ReduceSum(x @ x, keepdims=0), FLOAT[2, 2]).gradient(
        wrt=["x"]
    )  # imports what is needed
    begun = time.process_time()
    made = model.gradient(wrt=["x", "w"])
    taken = time.process_time() - begun
    name = f"gradient of {count:,} nodes"
    return [
        Row(name, taken / count * 1e6, "µs a node", bar=at_most(200)),
        Row(name, len(made.ir.graph) / count, "nodes a node", bar=at_most(2.5)),
    ]


def _of_functions() -> list[Row]:
    """Twelve equal layers as calls of one function, beside the same model without functions."""
    import numpy as np
    import onnx.inliner

    from onnxsmith import FLOAT, Model, script, trace
    from onnxsmith import opset21 as op

    @script
    def layer(x: Any, w: Any, v: Any) -> Any:
        h = op.LayerNormalization(x, np.ones(16, np.float32), axis=-1)
        scores = op.Softmax(h @ op.Transpose(h @ w, perm=[1, 0]), axis=-1)
        return x + op.Tanh(scores @ h) @ v

    def deep(x: Any, *weights: Any) -> Any:
        for k in range(0, len(weights), 2):
            x = layer(x, weights[k], weights[k + 1])
        return op.ReduceSum(x * x, keepdims=0)

    model = trace(deep, FLOAT["N", 16], *[FLOAT[16, 16]] * 24)
    plain = Model.from_proto(onnx.inliner.inline_local_functions(model.proto))
    names = [each.name for each in model.inputs]
    made = [each.gradient(wrt=names) for each in (model, plain)]
    counts = [
        len(each.ir.graph) + sum(len(function) for function in each.ir.functions.values()) for each in made
    ]
    contestants: dict[str, Callable[[], object]] = {
        "ours": lambda: model.gradient(wrt=names),
        "dissolved": lambda: plain.gradient(wrt=names),
    }
    seconds = time_in_turns(contestants, rounds=5)
    name = "gradient of 12 equal layers, as functions"
    return [
        Row(name, seconds["ours"] * 1e3, "ms", "dissolved", seconds["dissolved"] * 1e3, ratio_at_most(0.5)),
        Row(name, counts[0], "nodes", "dissolved", counts[1], ratio_at_most(0.25)),
    ]


def _steps(context: Context) -> list[Row]:
    try:
        import torch
    except ImportError:
        return []
    torch.set_num_threads(1)
    from torch import nn

    rows: list[Row] = []
    for widths, batch, bar in _PERCEPTRONS:
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        network = nn.Sequential(*layers[:-1])
        name = "-".join(map(str, widths))
        rows.append(_step(f"perceptron {name}", network, torch.randn(batch, widths[0]), widths[-1], bar))
    lenet = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    rows.append(_step("LeNet, batch 32", lenet, torch.randn(32, 1, 28, 28), 10, 1.25))
    for activation in ("relu", "gelu"):
        layer = nn.TransformerEncoderLayer(512, 8, 2048, 0.0, activation, batch_first=True)
        name = f"transformer layer, 8 × 128 tokens of 512, {activation}"
        rows.append(_step(name, layer, torch.randn(8, 128, 512), None, 1.35))
    return rows


def _step(name: str, network: Any, x: Any, classes: int | None, bar: float) -> Row:
    """A step of ours, whose state goes in and out, beside one of torch's; without classes it is a regression."""
    import torch

    import onnxsmith.torch
    from onnxsmith.grad import initial_state, losses, sgd, training_step
    from onnxsmith.runtime import using

    # Not `eval`: torch runs some layers of it on kernels that have no gradient, which then are not what is compared.
    y = torch.randn(x.shape) if classes is None else torch.randint(0, classes, (len(x),))
    model = onnxsmith.torch.export(network, (x,))
    loss = losses.squared if classes is None else losses.cross_entropy
    step = training_step(model, loss, sgd(lr=0.01))
    state = list(initial_state(model, step).values())
    with using(intra_op_threads=1):
        run = step.runner()
        given = [x.numpy(), y.numpy()]
        run([*given, *state])

    def ours() -> None:
        state[:] = run([*given, *state])[1:]

    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    functions = torch.nn.functional
    their_loss = functions.mse_loss if classes is None else functions.cross_entropy

    def theirs() -> None:
        optimizer.zero_grad()
        their_loss(network(x), y).backward()
        optimizer.step()

    contestants: dict[str, Callable[[], object]] = {"ours": ours, "torch": theirs}
    seconds = time_in_turns(contestants, round_seconds=0.2)
    return Row(name, seconds["ours"] * 1e3, "ms", "torch", seconds["torch"] * 1e3, ratio_at_most(bar))
