"""Networks, each as a torch module and as a script on the same weights: loss, gradients and steps of training.

Weights go in as torch names and lays them out, so that all gradients can be compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import FLOAT, script
from onnxsmith import opset23 as op
from onnxsmith.errors import TrainingModeWarning
from onnxsmith.grad import initial_state, losses, sgd, training_step, value_and_grad

RATE = 0.05
STEPS = 20


# -- as scripts ----------------------------------------------------------------------------------------------


@script
def perceptron(x: FLOAT["B", "N"], w1, b1, w2, b2, w3, b3):
    h = op.Relu(op.Gemm(x, w1, b1, transB=1))
    h = op.Tanh(op.Gemm(h, w2, b2, transB=1))
    return op.Gemm(h, w3, b3, transB=1)


@script
def lenet(x: FLOAT["B", "C", "H", "W"], c1, d1, c2, d2, w1, b1, w2, b2, w3, b3):
    h = op.MaxPool(op.Relu(op.Conv(x, c1, d1, pads=[2, 2, 2, 2])), kernel_shape=[2, 2], strides=[2, 2])
    h = op.MaxPool(op.Relu(op.Conv(h, c2, d2)), kernel_shape=[2, 2], strides=[2, 2])
    h = op.Relu(op.Gemm(op.Flatten(h), w1, b1, transB=1))
    h = op.Relu(op.Gemm(h, w2, b2, transB=1))
    return op.Gemm(h, w3, b3, transB=1)


@script
def normalised(x, scale, bias):
    zeros = op.Mul(scale, 0.0)
    y, _, _ = op.BatchNormalization(x, scale, bias, zeros, zeros, training_mode=1)
    return y


@script
def residual(x: FLOAT["B", "C", "H", "W"], c1, s1, b1, c2, s2, b2, w, b):
    h = op.Relu(normalised(op.Conv(x, c1, pads=[1, 1, 1, 1]), s1, b1))
    h = op.Relu(normalised(op.Conv(h, c2, pads=[1, 1, 1, 1]), s2, b2) + x)
    return op.Gemm(op.Flatten(op.GlobalAveragePool(h)), w, b, transB=1)


@script
def reordered(w):
    i, f, g, o = op.Split(w, num_outputs=4)
    return op.Unsqueeze(op.Concat(i, o, f, g, axis=0), [0])


@script
def recurrent(x: FLOAT["B", "T", "N"], wi, wh, bi, bh, w, b, *, hidden: int):
    bias = op.Concat(reordered(bi), reordered(bh), axis=1)
    _, last, _ = op.LSTM(
        op.Transpose(x, perm=[1, 0, 2]), reordered(wi), reordered(wh), bias, hidden_size=hidden
    )
    return op.Gemm(op.Squeeze(last, [0]), w, b, transB=1)


@script
def transformer(x: FLOAT["B", "T", "N"], wi, bi, wo, bo, w1, b1, w2, b2, s1, n1, s2, n2, w, b, *, heads: int):
    q, k, v = op.Split(op.MatMul(x, op.Transpose(wi)) + bi, axis=-1, num_outputs=3)
    mixed, _, _, _ = op.Attention(q, k, v, q_num_heads=heads, kv_num_heads=heads)
    h = op.LayerNormalization(x + op.MatMul(mixed, op.Transpose(wo)) + bo, s1, n1)
    f = op.Relu(op.MatMul(h, op.Transpose(w1)) + b1)
    h = op.LayerNormalization(h + op.MatMul(f, op.Transpose(w2)) + b2, s2, n2)
    return op.Gemm(op.ReduceMean(h, [1], keepdims=0), w, b, transB=1)


@script
def unet(x: FLOAT["B", "C", "H", "W"], c1, d1, c2, d2, u, e, c3, d3, w, b):
    down = op.Relu(op.Conv(x, c1, d1, pads=[1, 1, 1, 1]))
    h = op.MaxPool(down, kernel_shape=[2, 2], strides=[2, 2])
    h = op.Relu(op.Conv(h, c2, d2, pads=[1, 1, 1, 1]))
    h = op.Concat(down, op.ConvTranspose(h, u, e, strides=[2, 2]), axis=1)
    h = op.Relu(op.Conv(h, c3, d3, pads=[1, 1, 1, 1]))
    return op.Gemm(op.Flatten(op.GlobalAveragePool(h)), w, b, transB=1)


# -- as torch modules ----------------------------------------------------------------------------------------


class Residual(nn.Module):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        self.head = nn.Linear(channels, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first_norm(self.first(x)))
        return self.head(torch.relu(self.second_norm(self.second(h)) + x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, width: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.layer = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[1][0][0])


class Transformer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, classes: int) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(width, heads, inner, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x).mean(1))


class Unet(nn.Module):
    def __init__(self, channels: int, inner: int, classes: int) -> None:
        super().__init__()
        self.down = nn.Conv2d(channels, inner, 3, padding=1)
        self.bottom = nn.Conv2d(inner, 2 * inner, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * inner, inner, 2, stride=2)
        self.join = nn.Conv2d(2 * inner, inner, 3, padding=1)
        self.head = nn.Linear(inner, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        down = torch.relu(self.down(x))
        h = torch.relu(self.bottom(nn.functional.max_pool2d(down, 2)))
        h = torch.cat([down, self.up(h)], 1)
        return self.head(torch.relu(self.join(h)).mean((2, 3)))


# -- the same network ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """A module and the script that computes the same of its parameters, with data for both."""

    module: nn.Module
    written: Callable[..., Any]
    x: torch.Tensor
    classes: int = 4

    @property
    def target(self) -> torch.Tensor:
        return torch.arange(len(self.x)) % self.classes

    @property
    def weights(self) -> dict[str, Any]:
        return {name: each.detach().numpy().copy() for name, each in self.module.named_parameters()}


def network(name: str, *, is_large: bool = False) -> Network:
    """A network by its name; always with the same numbers."""
    torch.manual_seed(3)
    if name == "perceptron":
        layers = [nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4)]
        return Network(nn.Sequential(*layers), perceptron, torch.randn(8, 12))
    if name == "LeNet":
        layers = [
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 4)),
        ]
        return Network(nn.Sequential(*layers), lenet, torch.randn(4, 1, 28, 28))
    if name == "ResNet block":
        return Network(
            Residual(64 if is_large else 8, 4), residual, torch.randn(4, 64 if is_large else 8, 8, 8)
        )
    if name == "LSTM":
        hidden = 128 if is_large else 10
        written = _with(recurrent, hidden=hidden)
        return Network(Recurrent(6, hidden, 4), written, torch.randn(4, 7, 6))
    if name == "transformer layer":
        width, heads, inner = (512, 8, 2048) if is_large else (16, 4, 32)
        x = torch.randn(8, 128, 512) if is_large else torch.randn(2, 5, 16)
        return Network(Transformer(width, heads, inner, 4), _with(transformer, heads=heads), x)
    assert name == "U-Net block"
    return Network(Unet(3, 32 if is_large else 6, 4), unet, torch.randn(4, 3, 16, 16))


NETWORKS = ("perceptron", "LeNet", "ResNet block", "LSTM", "transformer layer", "U-Net block")


def _with(function: Callable[..., Any], **attributes: int) -> Callable[..., Any]:
    def call(x: Any, *weights: Any) -> Any:
        return function(x, *weights, **attributes)

    return call


@dataclass
class Trained:
    """The loss and the gradients at first, and the weights after all steps, by name."""

    loss: float
    gradients: dict[str, Any]
    weights: dict[str, Any]


def by_torch(given: Network) -> Trained:
    module = given.module.train()
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    first: tuple[float, dict[str, Any]] | None = None
    start = {name: each.detach().clone() for name, each in module.state_dict().items()}
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(given.x), given.target)
        loss.backward()
        if first is None:
            gradients = {name: each.grad for name, each in module.named_parameters()}
            first = (
                float(loss.detach()),
                {name: g.numpy().copy() for name, g in gradients.items() if g is not None},
            )
        optimizer.step()
    after = given.weights
    module.load_state_dict(start)
    assert first is not None
    return Trained(*first, after)


def by_script(given: Network) -> Trained:
    """The loss and its gradient as a function of the weights, and steps taken by hand."""

    def loss(x: Any, target: Any, *weights: Any) -> Any:
        return losses.cross_entropy(given.written(x, *weights), target)

    weights = given.weights
    function = value_and_grad(loss, wrt=tuple(range(2, 2 + len(weights))))
    x, target = given.x.numpy(), given.target.numpy()
    value, gradients = function(x, target, *weights.values())
    first = float(value), dict(zip(weights, gradients, strict=True))
    for _ in range(STEPS):
        _, gradients = function(x, target, *weights.values())
        weights = {
            name: w - np.float32(RATE) * g for (name, w), g in zip(weights.items(), gradients, strict=True)
        }
    return Trained(*first, weights)


def by_export(given: Network) -> Trained:
    """The model that the exporter makes, and steps of training as a model."""
    with warnings.catch_warnings():
        # It shall be trained; and torch warns of its own layers.
        warnings.simplefilter("ignore", TrainingModeWarning)
        warnings.filterwarnings("ignore", "The tensor attributes", UserWarning)
        model = onnxsmith.torch.export(given.module.train(), (given.x,), keep_mutations=True)
    step = training_step(model, losses.cross_entropy, sgd(lr=RATE))
    state = initial_state(model, step)
    x, target = given.x.numpy(), given.target.numpy()
    inputs = {step.inputs[0].name: x, step.inputs[1].name: target}
    start, first = dict(state), None
    trained = [name for name, _ in given.module.named_parameters() if name in state]
    for _ in range(STEPS):
        loss, *after = step(**inputs, **state)
        state = dict(zip(state, after, strict=True))
        if first is None:
            slopes = {name: (start[name] - state[name]) / np.float32(RATE) for name in trained}
            first = float(loss), slopes
    assert first is not None
    return Trained(*first, {name: state[name] for name in trained})


def differences(found: Trained, wanted: Trained) -> dict[str, float]:
    """How far loss, gradients and weights are off, of their largest element or of one."""
    assert set(found.gradients) == set(wanted.gradients), (set(found.gradients), set(wanted.gradients))
    return {
        "loss": abs(found.loss - wanted.loss) / max(1.0, abs(wanted.loss)),
        "gradients": _furthest(found.gradients, wanted.gradients),
        "weights": _furthest(found.weights, wanted.weights),
    }


def _furthest(found: dict[str, Any], wanted: dict[str, Any]) -> float:
    parts: Sequence[float] = [
        float(np.abs(found[name] - wanted[name]).max() / max(1.0, np.abs(wanted[name]).max()))
        for name in wanted
    ]
    return max(parts)
