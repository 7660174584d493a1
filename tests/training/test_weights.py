"""Which weights are trained: of each road to a model, by name; those inside functions, tied ones, and none besides."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import torch
from torch import nn

import onnxsmith.numpy as xp
import onnxsmith.torch
from onnxsmith import FLOAT, Model, decompile, load, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelWarning, NotDifferentiableError, UnknownNameError, UnreachedError
from onnxsmith.training import Trainer, initial_state, losses, sgd, training_step

RNG = np.random.default_rng(0)
FIRST, BIAS, SECOND, LAST = (RNG.normal(size=size).astype(np.float32) for size in ((3, 4), 4, (4, 2), 2))
MEAN, SCALE = np.float32([1, 2, 3]), np.float32([2, 2, 4])
X = RNG.normal(size=(6, 3)).astype(np.float32)
Y = RNG.normal(size=(6, 2)).astype(np.float32)


def perceptron(x: Any) -> Any:
    h = op.Relu(op.MatMul((x - MEAN) / SCALE, FIRST) + BIAS)
    return (op.MatMul(h, SECOND) + LAST) * 0.5 + 1e-5


def in_numpy(x: Any) -> Any:
    return (np.maximum(((x - MEAN) / SCALE) @ FIRST + BIAS, 0) @ SECOND + LAST) * np.float32(
        0.5
    ) + np.float32(1e-5)


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN))
        self.register_buffer("scale", torch.tensor(SCALE))
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        for layer, weight, bias in ((self.first, FIRST, BIAS), (self.second, SECOND, LAST)):
            layer.weight.data, layer.bias.data = torch.tensor(weight.T.copy()), torch.tensor(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first((x - self.mean) / self.scale))) * 0.5 + 1e-5


def saved(model: Model, tmp_path: Any) -> Model:
    """The model as a file of others is: without what only this process knows, and without our metadata."""
    proto = model.proto
    del proto.metadata_props[:]
    onnx.save(proto, tmp_path / "model.onnx")
    return load(tmp_path / "model.onnx")


def with_constants(model: Model, tmp_path: Any) -> Model:
    """The same with `Constant` nodes in the place of initializers."""
    proto = model.proto
    for tensor in proto.graph.initializer:
        name, copied = tensor.name, onnx.TensorProto()
        copied.CopyFrom(tensor)
        proto.graph.node.insert(0, onnx.helper.make_node("Constant", [], [name], value=copied))
    del proto.graph.initializer[:]
    onnx.save(proto, tmp_path / "constants.onnx")
    return load(tmp_path / "constants.onnx")


def foreign(tmp_path: Any) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own exporter
        torch.onnx.export(Scaled().eval(), (torch.tensor(X),), tmp_path / "theirs.onnx", dynamo=False)
    return load(tmp_path / "theirs.onnx")


def decompiled(tmp_path: Any) -> Model:
    names: dict[str, Any] = {}
    text = str(decompile(saved(trace(perceptron, FLOAT["N", 3]), tmp_path)))
    path = tmp_path / "decompiled.py"
    path.write_text(text)
    exec(compile(text, path, "exec"), names)
    return names["model"]


ROADS: dict[str, Callable[[Any], Model]] = {
    "a trace": lambda _: trace(perceptron, FLOAT["N", 3]),
    "a trace, optimised": lambda _: trace(perceptron, FLOAT["N", 3]).optimize(),
    "a file": lambda path: saved(trace(perceptron, FLOAT["N", 3]), path),
    "a file with constants": lambda path: with_constants(trace(perceptron, FLOAT["N", 3]), path),
    "a decompiled file": decompiled,
    "numpy code": lambda _: xp.to_model(in_numpy, X),
    "an export in training": lambda _: onnxsmith.torch.export(Scaled().train(), (torch.tensor(X),)),
    "an export in use": lambda _: onnxsmith.torch.export(Scaled().eval(), (torch.tensor(X),)),
    "an export in use as a file": lambda path: saved(
        onnxsmith.torch.export(Scaled().eval(), (torch.tensor(X),)), path
    ),
    "torch's own export": foreign,
}


def after_steps(network: nn.Module) -> dict[str, Any]:
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(torch.tensor(X)), torch.tensor(Y)).backward()
        optimizer.step()
    return {name: each.detach().numpy() for name, each in network.named_parameters()}


@pytest.mark.parametrize("road", ROADS)
def test_each_road_trains_the_weights_and_nothing_else(road: str, tmp_path: Any) -> None:
    model = ROADS[road](tmp_path)
    trainer = Trainer(model, "squared", sgd(0.1))
    trainer.fit(X, Y, epochs=5, batch_size=6, shuffle=False, progress=False)
    wanted = sorted(after_steps(Scaled()).values(), key=np.size)
    found = sorted((trainer.state[name] for name in trainer.trained), key=np.size)
    assert [np.size(each) for each in found] == [2, 4, 8, 12]
    for ours, theirs in zip(found, wanted, strict=True):
        same = ours if ours.shape == theirs.shape else ours.T
        np.testing.assert_allclose(same, theirs, atol=1e-6)
    wanted_results = Scaled()
    after_steps(wanted_results)
    np.testing.assert_allclose(trainer.model(X), wanted_results(torch.tensor(X)).detach().numpy(), atol=1e-5)


CALLED = """
<ir_version: 10, opset_import: ["" : 21, "our" : 1]>
main (float[N,2] x) => (float[N,2] y) { h = our.outer (x)  y = our.layer (h) }
<domain: "our", opset_import: ["" : 21]>
layer (x) => (y) {
    w = Constant <value: tensor = float[2,2] {1, 0.5, -0.5, 1}> ()
    b = Constant <value: tensor = float[2] {0.25, 0}> ()
    half = Constant <value: tensor = float {0.5}> ()
    p = MatMul (x, w)
    s = Add (p, b)
    y = Mul (s, half)
}
<domain: "our", opset_import: ["" : 21, "our" : 1]>
outer (x) => (y) { y = our.layer (x) }
"""


def test_weights_in_functions_are_found_and_those_of_two_calls_are_one() -> None:
    model = Model.from_proto(onnx.parser.parse_model(CALLED))
    x, target = np.float32([[1, 2], [3, -1]]), np.zeros((2, 2), np.float32)
    step = training_step(model, losses.squared, sgd(0.1))
    state = initial_state(model, step)
    assert list(state) == ["our::layer/w", "our::layer/b"]
    _, w, b = step(x=x, target=target, **state)
    weight = torch.tensor([[1, 0.5], [-0.5, 1]], requires_grad=True)
    bias = torch.tensor([0.25, 0], requires_grad=True)
    h = torch.tensor(x)
    for _ in range(2):
        h = (h @ weight + bias) * 0.5
    h.square().mean().backward()
    np.testing.assert_allclose(w, (weight - 0.1 * weight.grad).detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(b, (bias - 0.1 * bias.grad).detach().numpy(), rtol=1e-6)
    trainer = Trainer(model, "squared", sgd(0.1))
    trainer.fit(x, target, batch_size=2, progress=False)
    np.testing.assert_allclose(trainer.state["our::layer/w"], w)
    held = trainer.model.ir.functions["our", "layer", ""].graph[0].attributes["value"].as_tensor()
    np.testing.assert_allclose(held.numpy(), w)


def test_a_module_with_tied_weights_keeps_them_one() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(6, 4)
            self.head = nn.Linear(4, 6, bias=False)
            self.head.weight = self.embedding.weight
            self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(torch.tanh(self.embedding(x).mean(1)) * self.frozen)

    torch.manual_seed(0)
    network, x, y = Tied().train(), torch.randint(0, 6, (5, 3)), torch.randint(0, 6, (5,))
    trainer = Trainer(onnxsmith.torch.export(network, (x,)), optimizer=sgd(0.5))
    trainer.fit(x.numpy(), y.numpy(), epochs=3, batch_size=5, shuffle=False, progress=False)
    optimizer = torch.optim.SGD([network.embedding.weight], 0.5)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    assert trainer.trained == ["embedding.weight"]
    np.testing.assert_allclose(
        trainer.state["embedding.weight"], network.embedding.weight.detach().numpy(), atol=1e-6
    )


class Encoder(nn.Module):
    """An encoder as BERT has it, with a head for two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(20, 8), nn.Embedding(6, 8)
        self.norm = nn.LayerNorm(8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, "gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pooler, self.classifier = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        embedded = self.norm(self.words(x) + self.positions(torch.arange(x.shape[1])))
        return self.classifier(torch.tanh(self.pooler(self.encoder(embedded)[:, 0])))


@pytest.mark.parametrize("is_training", [True, False], ids=["in training", "in use"])
def test_last_layers_are_trained_and_all_others_are_the_same_bits(is_training: bool) -> None:
    torch.manual_seed(0)
    x = torch.randint(0, 20, (8, 6))
    y = (x[:, 0] > 9).long()
    network = Encoder().train(is_training)
    model = onnxsmith.torch.export(network, (x,), keep_mutations=is_training)
    before = {name: each.const_value for name, each in model.ir.graph.initializers.items()}
    last = ["classifier.*", "pooler.*", "encoder.layers.1.linear2.*"]
    trainer = Trainer(model, weights=last)
    first = trainer.evaluate(x.numpy(), y.numpy())["loss"]
    trainer.fit(x.numpy(), y.numpy(), epochs=10, batch_size=8, progress=False)
    assert trainer.evaluate(x.numpy(), y.numpy())["loss"] < first
    after = {name: each.const_value for name, each in trainer.model.ir.graph.initializers.items()}
    if is_training:  # in use, weights that are turned are named so
        assert {*network.state_dict()} <= {*after}
    changed = {
        name for name in after if name not in before or before[name].tobytes() != after[name].tobytes()
    }
    assert {name for name in changed if name in before} == set(trainer.trained)
    assert {name.rpartition(".")[0] for name in trainer.trained} == {each[:-2] for each in last}


POSITIONS = RNG.normal(size=(1, 5, 4)).astype(np.float32)
TABLE = RNG.normal(size=(9, 4)).astype(np.float32)


def test_what_may_be_a_weight_is_told() -> None:
    model = trace(lambda x: op.MatMul(op.Gather(TABLE, x) + POSITIONS, SECOND), onnxsmith.INT64["N", 5])
    with pytest.warns(ModelWarning, match=r"nothing says that they are weights: POSITIONS"):
        assert Trainer(model, "squared").trained == ["TABLE", "SECOND"]
    assert Trainer(model, "squared", freeze="POSITIONS").trained == ["TABLE", "SECOND"]
    assert Trainer(model, "squared", weights=["POSITIONS", "SECOND"]).trained == ["POSITIONS", "SECOND"]


GAIN, SHIFT = np.float32([1, 1, 1]), np.float32([0, 0, 0])


def layer_normalisation(x: Any) -> Any:
    spread = x - op.ReduceMean(x, np.array([-1]))
    deviation = op.Sqrt(op.ReduceMean(spread * spread, np.array([-1])) + 1e-5)
    return spread / deviation * GAIN + SHIFT


ROLES: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "a layer normalisation in parts": (layer_normalisation, ["GAIN", "SHIFT"]),
    "a turned weight": (lambda x: op.MatMul(x, op.Transpose(op.Transpose(FIRST))), ["FIRST"]),
    "a sum of products": (
        lambda x: op.MatMul(x, FIRST) + op.MatMul(op.Relu(x), FIRST) + BIAS,
        ["FIRST", "BIAS"],
    ),
    "the scale of an input": (lambda x: op.MatMul(x * MEAN, FIRST), ["FIRST"]),
    "nothing but arrays": (lambda x: x * MEAN + SCALE, ["MEAN", "SCALE"]),
    "single numbers": (lambda x: op.MatMul(x, FIRST) * 0.5 + np.float32(3.0), ["FIRST"]),
}


@pytest.mark.parametrize("name", ROLES)
@pytest.mark.filterwarnings("ignore:not trained, as nothing says")
def test_roles(name: str) -> None:
    function, wanted = ROLES[name]
    assert sorted(Trainer(trace(function, FLOAT["N", 3]), "squared").trained) == sorted(wanted)


def test_wrong_weights() -> None:
    whole = np.ones((2, 2), np.int64)
    model = trace(
        lambda x: op.MatMul(x, FIRST) + op.Cast(op.ReduceSum(op.MatMul(whole, whole)), to=FLOAT),
        FLOAT["N", 3],
    )
    with pytest.raises(NotDifferentiableError, match="'whole' is int64, and whole numbers have no gradient"):
        training_step(model, losses.squared, sgd(0.1), weights=["whole"])
    with pytest.raises(UnknownNameError, match="no weight 'thrd'"):
        training_step(model, losses.squared, sgd(0.1), weights=["thrd"])
    with pytest.raises(UnknownNameError, match="all weights are frozen: FIRST"):
        training_step(model, losses.squared, sgd(0.1), freeze="*")
    behind = trace(
        lambda x: op.MatMul(x, FIRST) + op.Cast(op.ArgMax(BIAS + x[:, :1], axis=1), to=FLOAT), FLOAT["N", 3]
    )
    with pytest.raises(UnreachedError, match="BIAS"):
        training_step(behind, losses.squared, sgd(0.1), weights=["BIAS"])
