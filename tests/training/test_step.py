"""`training_step` on networks, from scripts and from torch, against torch's own steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import FLOAT, load, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeValueError, LossError, UnknownNameError
from onnxsmith.grad import adam, initial_state, losses, sgd, training_step, value_and_grad

STEPS = 20


class Attending(nn.Module):
    """A transformer layer with a pooled output."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(x).mean(1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 8, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.lstm(x)[0][:, -1])


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, stride=2)
        self.skip, self.norm, self.out = nn.Conv2d(3, 8, 1, stride=2), nn.GroupNorm(2, 8), nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(self.b(torch.relu(self.a(x)))) + self.skip(x)
        return self.out(torch.relu(h).mean((2, 3)))


#: Networks of torch with inputs for them; all give five classes.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 5)), (4, 7)),
    "LeNet": (
        lambda: nn.Sequential(
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.AvgPool2d(2)),
            *(nn.Flatten(), nn.Linear(64, 20), nn.GELU(), nn.Linear(20, 5)),
        ),
        (4, 1, 16, 16),
    ),
    "residual block": (Residual, (4, 3, 9, 9)),
    "recurrent": (Recurrent, (4, 3, 6)),
    "transformer layer": (Attending, (4, 6, 16)),
}


@pytest.mark.filterwarnings("ignore:The tensor attributes self.lstm")  # torch.export of any LSTM
@pytest.mark.parametrize("name", NETWORKS)
def test_twenty_steps_are_those_of_torch(name: str) -> None:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    network, same = make(), make()
    same.load_state_dict(network.state_dict())
    for parameter in getattr(network, "norm", nn.Module()).parameters():
        parameter.requires_grad = False  # ones and zeros, which the exported model is without
    x, y = torch.randn(shape), torch.randint(0, 5, (shape[0],))
    model = onnxsmith.torch.export(same.eval(), (x,))
    weights = None
    if (
        name == "recurrent"
    ):  # its bias is put together of two, and the state that it begins with is none of its weights
        held = {name: value.const_value for name, value in model.ir.graph.initializers.items()}
        arrays = [
            each for each, tensor in held.items() if tensor.dtype.is_floating_point() and len(tensor.shape)
        ]
        weights = [each for each in arrays if "expand" not in each]
    step = training_step(model, losses.cross_entropy, sgd(lr=0.05, momentum=0.9), weights=weights)
    step.check()
    state = initial_state(model, step)
    theirs = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for _ in range(STEPS):
        loss, *after = step(x.numpy(), y.numpy(), *state.values())
        state = dict(zip(state, after, strict=True))
        theirs.zero_grad()
        wanted = nn.functional.cross_entropy(network(x), y)
        wanted.backward()
        theirs.step()
        np.testing.assert_allclose(loss, wanted.detach().numpy(), rtol=1e-3, atol=1e-4)


def line() -> Any:
    weight, bias = np.float32([[0.5], [-1.0]]), np.zeros(1, np.float32)
    return trace(lambda x: op.MatMul(x, weight) + bias, FLOAT["N", 2])


X = np.float32([[1, 0], [0, 1], [1, 1], [2, -1]])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (sgd(lr=0.1), lambda p: torch.optim.SGD(p, lr=0.1)),
        (sgd(lr=0.1, weight_decay=0.1), lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.1)),
        (
            sgd(lr=0.1, momentum=0.9, nesterov=True),
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        ),
        (adam(lr=0.1), lambda p: torch.optim.Adam(p, lr=0.1)),
    ],
)
def test_optimisers_are_those_of_torch(ours: Any, theirs: Any) -> None:
    model = line()
    step = training_step(model, losses.squared, ours)
    state = initial_state(model, step)
    weight, bias = (torch.tensor(state[each], requires_grad=True) for each in ("weight", "bias"))
    optimizer = theirs([weight, bias])
    target = X @ np.float32([[2], [3]]) + 1
    for _ in range(5):
        _, *after = step(x=X, target=target, **state)
        state = dict(zip(state, after, strict=True))
        optimizer.zero_grad()
        ((torch.tensor(X) @ weight + bias - torch.tensor(target)) ** 2).mean().backward()
        optimizer.step()
    np.testing.assert_allclose(state["weight"], weight.detach().numpy(), rtol=1e-5)
    np.testing.assert_allclose(state["bias"], bias.detach().numpy(), rtol=1e-5)


LOSSES = {
    "absolute": (losses.absolute, nn.functional.l1_loss),
    "huber": (losses.huber(0.7), lambda p, t: nn.functional.huber_loss(p, t, delta=0.7)),
    "binary": (losses.binary_cross_entropy, nn.functional.binary_cross_entropy_with_logits),
    "hinge": (losses.hinge, lambda p, t: torch.relu(1 - p * t).mean()),
    "squared": (losses.squared, nn.functional.mse_loss),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_torch(name: str) -> None:
    ours, theirs = LOSSES[name]
    prediction, target = np.float32([0.3, -2.0, 1.5]), np.float32([1, 0, 1])
    value, slope = value_and_grad(ours)(prediction, target)
    x = torch.tensor(prediction, requires_grad=True)
    wanted = theirs(x, torch.tensor(target))
    wanted.backward()
    np.testing.assert_allclose(value, wanted.item(), rtol=1e-5)
    np.testing.assert_allclose(slope, x.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_a_penalty_is_added_to_the_loss() -> None:
    model = line()
    step = training_step(model, losses.squared, sgd(lr=1.0), penalty=losses.elastic_penalty(l1=0.1, l2=0.2))
    state = initial_state(model, step)
    target = X @ state["weight"]
    loss, weight, _ = step(x=X, target=target, **state)
    w = state["weight"]
    np.testing.assert_allclose(loss, 0.1 * np.abs(w).sum() + 0.1 * (w * w).sum(), rtol=1e-5)
    np.testing.assert_allclose(weight, w - 0.1 * np.sign(w) - 0.2 * w, rtol=1e-5)


def test_a_learning_rate_that_each_step_is_given(tmp_path: Any) -> None:
    model = line()
    step = training_step(model, losses.squared, sgd(lr=None), weights=["weight"])
    step.save(tmp_path / "step.onnx")
    state = initial_state(model, step)
    target = np.zeros((4, 1), np.float32)
    moves = [
        load(tmp_path / "step.onnx")(x=X, target=target, lr=np.float32(rate), **state)[1] - state["weight"]
        for rate in (0.1, 0.2)
    ]
    np.testing.assert_allclose(moves[1], 2 * moves[0], rtol=1e-4)


def test_wrong_calls() -> None:
    with pytest.raises(UnknownNameError, match="no weight 'w\\*x"):
        training_step(line(), losses.squared, sgd(lr=0.1), weights="w*x*")
    with pytest.raises(AttributeValueError, match="lr is a number from 0 on"):
        sgd(lr=-1.0)
    with pytest.raises(LossError, match="2 outputs"):
        training_step(trace(lambda x: (x, x + 1.0), FLOAT["N"]), losses.squared, sgd(lr=0.1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("rate", [None, 0.1, np.float32(0.1), np.float64(0.1)], ids=str)
def test_numbers_of_an_optimizer_take_the_element_type_of_weights(
    dtype: Any, optimizer: Any, rate: Any
) -> None:
    weight = np.ones((2, 1), dtype)
    x = np.ones((3, 2), dtype)
    model = trace(lambda x: x @ weight, x)
    step = training_step(model, losses.squared, optimizer(rate), penalty=losses.elastic_penalty(l2=0.1))
    given = initial_state(model, step) | ({"lr": np.float32(0.1)} if rate is None else {})
    loss, after, *_ = step(x=x, target=np.zeros((3, 1), dtype), **given)
    assert (loss.dtype, after.dtype) == (dtype, dtype)
    assert (after < weight).all()


def test_losses_take_arrays() -> None:
    x, y = np.float32([[1.0, -2.0]]), np.float32([[0.5, 1.0]])
    for loss in (
        losses.squared,
        losses.absolute,
        losses.huber(0.5),
        losses.binary_cross_entropy,
        losses.hinge,
    ):
        np.testing.assert_allclose(loss(x, y), value_and_grad(loss)(x, y)[0], rtol=1e-6)
    for loss in (losses.cross_entropy, losses.negative_log_likelihood):
        np.testing.assert_allclose(
            loss(x, np.int64([1])), value_and_grad(loss)(x, np.int64([1]))[0], rtol=1e-6
        )
    np.testing.assert_allclose(losses.elastic_penalty(l1=1.0, l2=2.0)(x), 8.0)
