"""Modules in training: the model has each parameter once, by its name and as torch lays it out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import onnxsmith
from onnxsmith import Model
from onnxsmith.errors import UnknownNameError
from onnxsmith.grad import initial_state, losses, sgd, training_step


class Tied(nn.Module):
    """One weight that two layers hold."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 10, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(torch.tanh(self.embedding(tokens)))


class Turned(nn.Module):
    """Parameters that are read through views of them."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4))
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight.T) * self.gain.exp().view(1, 3)


class SelfAttention(nn.Module):
    """Heads that look at what they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.heads(x, x, x, need_weights=False)[0]


def _modules() -> dict[str, tuple[nn.Module, torch.Tensor]]:
    torch.manual_seed(0)
    tokens = torch.randint(0, 10, (2, 5))
    return {
        "linear of a matrix": (nn.Linear(4, 3), torch.randn(5, 4)),
        "linear of three dimensions": (nn.Linear(4, 3), torch.randn(2, 5, 4)),
        "linear of four dimensions": (nn.Linear(4, 3, bias=False), torch.randn(2, 3, 5, 4)),
        "turned": (Turned(), torch.randn(2, 4)),
        "attention": (SelfAttention(), torch.randn(2, 5, 8)),
        "transformer": (
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
            torch.randn(2, 5, 8),
        ),
        "tied, of rows": (Tied(), tokens[0]),
        "tied, of batches": (Tied(), tokens),
        "equal": (
            nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4), nn.Tanh()),
            torch.randn(2, 5, 4),
        ),
    }


MODULES = list(_modules())


@pytest.mark.parametrize("name", MODULES)
def test_parameters_keep_their_names_and_layout(name: str) -> None:
    module, x = _modules()[name]
    model = onnxsmith.torch.export(module.train(), (x,))
    held: dict[str, Any] = {
        name: value.const_value.numpy()
        for name, value in model.ir.graph.initializers.items()
        if value.const_value is not None and value.const_value.shape.rank()
    }
    floating = {name for name, each in held.items() if each.dtype == np.float32}
    wanted = dict(module.named_parameters())
    assert floating == set(wanted)
    for each, parameter in wanted.items():
        np.testing.assert_array_equal(held[each], parameter.detach().numpy())


@pytest.mark.parametrize("name", MODULES)
def test_a_step_of_training_is_torchs(name: str) -> None:
    module, x = _modules()[name]
    model = onnxsmith.torch.export(module.train(), (x,))
    step = training_step(model, losses.squared, sgd(lr=0.1))
    state = initial_state(model, step)
    given = module(x)
    loss, *after = step(**{step.inputs[0].name: x.numpy()}, target=np.zeros(given.shape, np.float32), **state)
    wanted = (given**2).mean()
    wanted.backward()
    np.testing.assert_allclose(loss, wanted.item(), rtol=1e-5)
    found = dict(zip(state, after, strict=True))
    for each, parameter in module.named_parameters():
        assert parameter.grad is not None
        new = (parameter - 0.1 * parameter.grad).detach().numpy()
        np.testing.assert_allclose(found.pop(each), new, rtol=1e-5, atol=1e-6)
    assert not found


def test_in_use_weights_are_folded() -> None:
    model = onnxsmith.torch.export(nn.Linear(4, 3).eval(), (torch.randn(2, 5, 4),))
    assert [node.op_type for node in model.ir.graph] == ["MatMul", "Add"]
    assert not model.ir.metadata_props


class Partly(nn.Module):
    """Layers of which some are frozen, with a buffer, a constant and a parameter that is one number."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 3)
        self.deviation: torch.Tensor
        self.register_buffer("deviation", torch.full((2,), 3.0))
        self.gain = nn.Parameter(torch.tensor(2.0))
        self.frozen = nn.Linear(3, 1).requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.frozen(self.layer(x / self.deviation) * torch.tensor([1.0, 2.0, 3.0])) * self.gain


TRAINED = ["layer.weight", "layer.bias", "gain"]


def _moved(model: onnxsmith.Model) -> list[str]:
    return sorted(initial_state(model, training_step(model, losses.squared, sgd(lr=0.1))))


@pytest.mark.parametrize("functions", [None, "modules"])
def test_only_parameters_that_ask_for_gradients_are_trained(functions: Any, tmp_path: Path) -> None:
    model = onnxsmith.torch.export(Partly().train(), (torch.randn(5, 2),), functions=functions)
    model.save(tmp_path / "model.onnx")
    for each in (model, onnxsmith.load(tmp_path / "model.onnx")):
        assert _moved(each) == sorted(TRAINED)


def test_weights_that_are_named_are_trained_whatever_they_are() -> None:
    model = onnxsmith.torch.export(Partly().train(), (torch.randn(5, 2),))
    step = training_step(model, losses.squared, sgd(lr=0.1), weights=["frozen.*", "deviation"])
    assert sorted(initial_state(model, step)) == ["deviation", "frozen.bias", "frozen.weight"]


def test_a_module_in_use_trains_no_buffers_and_frozen_parameters(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Tanh(), nn.BatchNorm1d(3), nn.Linear(3, 1)).eval()
    module[2].requires_grad_(False)
    exported = onnxsmith.torch.export(module, (torch.randn(2, 3),))
    exported.save(tmp_path / "m.onnx")
    for model in (exported, onnxsmith.load(tmp_path / "m.onnx")):
        step = training_step(model, losses.squared, sgd(lr=0.1))
        assert list(initial_state(model, step)) == ["1.weight", "1.bias"]
    plain = onnxsmith.torch.export(nn.Linear(3, 1).eval(), (torch.randn(2, 3),))
    assert not plain.metadata  # of which all is trained
    assert list(initial_state(plain, training_step(plain, losses.squared, sgd(lr=0.1)))) == ["weight", "bias"]


def test_trained_weights_go_back_to_a_module_with_frozen_and_tied_ones() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3))
    module[2].weight = module[0].weight
    module[2].bias.requires_grad_(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = onnxsmith.torch.export(module.train(), (torch.randn(4, 3),), keep_mutations=True)
    step = training_step(model, losses.squared, sgd(lr=0.1, momentum=0.5))
    state = initial_state(model, step)
    _, *after = step(np.ones((4, 3), np.float32), np.zeros((4, 3), np.float32), **state)
    state = dict(zip(state, after, strict=True))
    module.load_state_dict({name: torch.as_tensor(each) for name, each in state.items()}, strict=False)
    np.testing.assert_array_equal(module[2].weight.detach().numpy(), state["0.weight"])
    assert module[1].num_batches_tracked == 1


def test_changed_models_know_their_parameters() -> None:
    model = onnxsmith.torch.export(Partly().train(), (torch.randn(5, 2),), output_names=["y"])
    renamed = model.rename({"layer.*": "first.*"})
    assert _moved(renamed) == ["first.bias", "first.weight", "gain"]
    gain = next(node for node in model.ir.graph if "gain" in [each.name for each in node.inputs if each])
    part = model.extract(outputs=[gain.inputs[0].name])
    assert _moved(part) == ["layer.bias", "layer.weight"]
    behind = onnxsmith.torch.export(nn.Linear(1, 1).train(), (torch.randn(5, 1),), input_names=["y"])
    assert _moved(onnxsmith.compose(model, behind)) == sorted([*TRAINED, "weight", "bias"])
    again = onnxsmith.torch.export(Partly().train(), (torch.randn(5, 2),), input_names=["z"])
    ahead = onnxsmith.torch.export(nn.Linear(1, 2).train(), (torch.randn(5, 1),), output_names=["z"])
    both = onnxsmith.compose(model, ahead.rename({"input": "y"}), again)
    assert len(_moved(both)) == 2 * len(TRAINED) + 2


def test_parameters_that_are_gone_are_told() -> None:
    model = onnxsmith.torch.export(nn.Linear(4, 3).train(), (torch.randn(2, 5, 4),))
    assert "weight_next" in [
        each.name for each in training_step(onnxsmith.optimize(model), losses.squared, sgd(lr=0.1)).outputs
    ]
    changed = model.ir.clone()
    changed.graph.initializers["weight"].const_value = None
    with pytest.raises(UnknownNameError, match="'weight' is to be trained"):
        training_step(Model(changed), losses.squared, sgd(lr=0.1))
    frozen = onnxsmith.torch.export(nn.Linear(4, 3).train().requires_grad_(False), (torch.randn(2, 4),))
    with pytest.raises(UnknownNameError, match="no weight that is to be trained"):
        training_step(frozen, losses.squared, sgd(lr=0.1))


class Watching(nn.Module):
    """Writes to buffers that it never reads, and uses a parameter behind `detach` only."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.full((2,), 3.0))
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        self.seen.copy_(y.detach().mean(0))
        self.count.fill_(7)
        return y * self.scale.detach()


def test_buffers_that_are_only_written_and_weights_without_a_gradient() -> None:
    module = Watching().train()
    x, target = torch.randn(4, 3), torch.randn(4, 2)
    model = onnxsmith.torch.export(module, (x,), keep_mutations=True)
    with pytest.warns(onnxsmith.errors.ModelWarning, match="does not depend on 'scale'"):
        step = training_step(model, losses.squared, sgd(lr=0.1))
    state = initial_state(model, step)
    assert sorted(state) == ["count", "linear.bias", "linear.weight", "seen"]
    _, *new = step(x=x.numpy(), target=target.numpy(), **state)
    after = dict(zip(state, new, strict=True))
    ((module(x) - target) ** 2).mean().backward()
    for name in ("weight", "bias"):
        weight = getattr(module.linear, name)
        wanted = (weight - 0.1 * weight.grad).detach()
        np.testing.assert_allclose(after[f"linear.{name}"], wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(after["seen"], module.seen, rtol=1e-5)
    assert after["count"] == 7


def test_a_module_without_any_gradient_is_refused() -> None:
    class Detached(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x: Any) -> Any:
            return x * self.weight.detach()

    model = onnxsmith.torch.export(Detached().train(), (torch.randn(4, 3),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the error says it, and no warning before it
        with pytest.raises(onnxsmith.errors.UnreachedError, match="none of the weights: weight"):
            training_step(model, losses.squared, sgd(lr=0.1))
