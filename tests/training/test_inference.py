"""The model in use after training: networks in `eval()` beside torch, and each layer that differs in training."""

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
from onnxsmith.training import Trainer, model_in_use, sgd
from tests.training.evaluated_networks import EVALUATED

STEPS, BATCHES = 50, 5


@pytest.mark.filterwarnings("ignore:The tensor attributes self.layer")  # torch.export of any LSTM
@pytest.mark.parametrize("name", EVALUATED)
def test_networks_after_fifty_steps_are_those_of_torch_in_use(name: str) -> None:
    torch.manual_seed(0)
    make, shape = EVALUATED[name]
    network = make().train()
    xs, ys = torch.randn(BATCHES, *shape), torch.randint(0, 5, (BATCHES, shape[0]))
    model = onnxsmith.torch.export(network, (xs[0],), keep_mutations=True)
    trainer = Trainer(model, optimizer=sgd(0.05, momentum=0.9))
    data = xs.flatten(0, 1).numpy(), ys.flatten().numpy()
    trainer.fit(*data, epochs=STEPS // BATCHES, batch_size=shape[0], shuffle=False, progress=False)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(xs[step % BATCHES]), ys[step % BATCHES])
        loss.backward()
        optimizer.step()
    network.eval()
    new = torch.randn(shape)
    wanted = network(new).detach().numpy()
    got = trainer.model(new.numpy())
    np.testing.assert_allclose(got, wanted, atol=1e-4)
    losses = [nn.functional.cross_entropy(network(x), y).item() for x, y in zip(xs, ys, strict=True)]
    found = trainer.evaluate(*data, batch_size=shape[0])["loss"]
    np.testing.assert_allclose(found, np.mean(losses), atol=1e-4)


LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "batch norm": (lambda: nn.BatchNorm1d(3), (4, 3)),
    "batch norm without weights": (lambda: nn.BatchNorm1d(3, affine=False), (4, 3)),
    "batch norm of all batches": (lambda: nn.BatchNorm1d(3, momentum=None), (4, 3)),
    "batch norm without statistics": (lambda: nn.BatchNorm1d(3, track_running_stats=False), (4, 3)),
    "instance norm": (lambda: nn.InstanceNorm1d(3, track_running_stats=True, affine=True), (4, 3, 5)),
    "dropout": (lambda: nn.Dropout(0.5), (4, 3)),
    "dropout of all": (lambda: nn.Dropout(1.0), (4, 3)),
    "dropout of channels": (lambda: nn.Dropout1d(0.5), (4, 3, 5)),
    "alpha dropout": (lambda: nn.AlphaDropout(0.5), (4, 3)),
    "alpha dropout of channels": (lambda: nn.FeatureAlphaDropout(0.5), (4, 3, 5)),
    "random slopes": (nn.RReLU, (4, 3)),
    "LSTM with dropout": (lambda: First(nn.LSTM(3, 4, 2, dropout=0.5)), (5, 4, 3)),
    "attention with dropout": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.3, batch_first=True),
        (2, 3, 4),
    ),
}


class First(nn.Module):
    """The first result of a module."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0]


def layer(name: str) -> tuple[nn.Module, torch.Tensor]:
    """A layer between two others, whose statistics are no longer those that it began with."""
    make, shape = LAYERS[name]
    network = nn.Sequential(nn.Linear(shape[-1], shape[-1]), make(), nn.Tanh()).train()
    x = torch.randn(shape)
    network(x + 1)
    return network, x


@pytest.mark.filterwarnings("ignore:The tensor attributes self.inner")  # torch.export of any LSTM
@pytest.mark.parametrize("name", LAYERS)
def test_each_layer_is_in_use_what_it_is_in_torch(name: str, tmp_path: Any) -> None:
    torch.manual_seed(0)
    network, x = layer(name)
    model = onnxsmith.torch.export(network, (x,), keep_mutations=True)
    wanted = network.eval()(x).detach().numpy()
    model.save(tmp_path / "model.onnx")
    for each in (model, model.optimize(), load(tmp_path / "model.onnx")):
        used = model_in_use(each)
        used.check()
        assert len(used.outputs) == 1
        assert not any(node.op_type == "Dropout" for node in used.ir.graph.all_nodes())
        np.testing.assert_allclose(used(x.numpy()), wanted, atol=1e-5)


def test_random_numbers_of_a_module_stay_random() -> None:
    class Noisy(nn.Dropout):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + torch.rand_like(x)

    x = np.ones((50, 4), np.float32)
    model = onnxsmith.torch.export(Noisy().train(), (torch.ones(50, 4),), keep_mutations=True)
    used = model_in_use(model)
    noise = used(x) - x
    assert 0.3 < noise.mean() < 0.7
    assert noise.std() > 0.1


def test_operators_of_onnx_in_training() -> None:
    scale, bias = np.float32([2, 3]), np.float32([1, 1])
    mean, variance = np.float32([0.5, 0.25]), np.float32([4, 9])

    def forward(x: Any) -> Any:
        y, new_mean, new_variance = op.BatchNormalization(
            x, scale, bias, mean, variance, training_mode=1, epsilon=0.0, outputs=3
        )
        kept, mask = op.Dropout(y, np.float32(0.5), np.bool_(True), outputs=2)
        return kept, mask, new_mean, new_variance

    x = np.float32([[1, 2], [3, 4]])
    used = model_in_use(trace(forward, FLOAT["N", 2]))
    kept, mask, new_mean, new_variance = used(x)
    np.testing.assert_allclose(kept, (x - mean) / np.sqrt(variance) * scale + bias, rtol=1e-6)
    assert mask.all()
    np.testing.assert_array_equal([new_mean, new_variance], [mean, variance])


def test_a_model_without_a_form_for_training_is_itself() -> None:
    model = trace(lambda x: op.Dropout(x, outputs=1) * 2.0, FLOAT["N"])
    assert model_in_use(model) is model


def test_weights_are_replaced_and_the_estimator_of_before_is_forgotten() -> None:
    from sklearn.linear_model import LinearRegression

    X = np.array([[0.0], [1.0], [2.0]])
    model = onnxsmith.sklearn.convert(LinearRegression().fit(X, [1.0, 2.0, 3.0]), X)
    changed = model_in_use(model, {"linearregression.intercept_": np.float64(5)})
    np.testing.assert_allclose(changed(X), [5, 6, 7])
    assert "onnxsmith.sklearn.fitted" in model.ir.metadata_props
    assert "onnxsmith.sklearn.fitted" not in changed.ir.metadata_props
