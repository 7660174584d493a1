"""`generate_artifacts`: a program of onnxruntime-training's users with its import changed, and what is refused."""

from __future__ import annotations

import json
import os
import runpy
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import FLOAT, INT64, STRING, Model, trace
from onnxsmith import opset21 as op
from onnxsmith import opset_ai_onnx_ml4 as ml
from onnxsmith.core.value import Array
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    LossError,
    ModelWriteError,
    UnknownNameError,
)
from onnxsmith.training import adam, artifacts, load_state, losses, schedules
from onnxsmith.training.artifacts import LossType, OptimType, generate_artifacts


def _random(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def linear() -> Model:
    weight, bias = _random(4, 3), np.zeros(3, np.float32)
    return trace(lambda x: op.MatMul(x, weight) + bias, FLOAT["N", 4], output_names=["scores"])


def with_two_outputs() -> Model:
    weight = _random(4, 3)

    def forward(x: Any) -> Any:
        hidden = op.Tanh(x)
        return hidden, op.MatMul(hidden, weight)

    return trace(forward, FLOAT["N", 4], output_names=["hidden", "scores"])


def opened(folder: Path, prefix: str = "") -> Any:
    return runpy.run_path(str(folder / f"{prefix}train.py"))["Training"](folder)


def test_program_of_onnxruntime_training(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    path = str(tmp_path / "model.onnx")
    onnxsmith.torch.export(network, (torch.zeros(8, 4),), dynamic_shapes=({0: torch.export.Dim("N")},)).save(
        path
    )
    # From here on as its users write it.
    import onnx

    onnx_model = onnx.load(path)
    requires_grad = [param.name for param in onnx_model.graph.initializer if param.name.startswith("2.")]
    frozen_params = [param.name for param in onnx_model.graph.initializer if param.name not in requires_grad]
    artifacts.generate_artifacts(
        onnx_model,
        requires_grad=requires_grad,
        frozen_params=frozen_params,
        loss=artifacts.LossType.CrossEntropyLoss,
        optimizer=artifacts.OptimType.SGD,
        artifact_directory=tmp_path,
        prefix="mlp_",
    )
    training = opened(tmp_path, "mlp_")
    x, labels = _random(16, 4), np.arange(16) % 3
    found = [training.step({"input": x, "target": labels}) for _ in range(20)]
    expected: list[float] = []
    optimizer = torch.optim.SGD(network[2].parameters(), lr=1e-3)
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(torch.tensor(x)), torch.tensor(labels))
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert list(training.state) == requires_grad


#: Losses by their names there, and the same of torch on scores and a target.
LOSSES: dict[str, tuple[Callable[..., torch.Tensor], bool]] = {
    "MSELoss": (nn.functional.mse_loss, False),
    "CrossEntropyLoss": (nn.functional.cross_entropy, True),
    "BCEWithLogitsLoss": (nn.functional.binary_cross_entropy_with_logits, False),
    "L1Loss": (nn.functional.l1_loss, False),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_by_their_names(name: str, tmp_path: Path) -> None:
    expected, is_of_classes = LOSSES[name]
    target = np.arange(5) % 3 if is_of_classes else np.abs(_random(5, 3)) % 1
    x = _random(5, 4)
    scores = torch.tensor(linear()(x))
    for number, given in enumerate((LossType[name], name)):
        folder = tmp_path / str(number)
        generate_artifacts(linear(), loss=given, optimizer="AdamW", artifact_directory=folder)
        found = opened(folder).evaluate({"x": x, "target": target})
        np.testing.assert_allclose(found["loss"], expected(scores, torch.tensor(target)), rtol=1e-5)
        np.testing.assert_allclose(found["scores"], scores, rtol=1e-5)


def test_optimizers_by_their_names(tmp_path: Path) -> None:
    generate_artifacts(linear(), loss="MSELoss", optimizer=OptimType.AdamW, artifact_directory=tmp_path / "a")
    generate_artifacts(linear(), loss="squared", optimizer="SGD", artifact_directory=tmp_path / "b")
    assert list(load_state(tmp_path / "a")) == [
        *("weight", "bias", "weight_mean", "weight_square", "bias_mean", "bias_square", "step")
    ]
    assert list(load_state(tmp_path / "b")) == ["weight", "bias"]
    for each in ("a", "b"):
        plan = json.loads((tmp_path / each / "training.json").read_text())
        assert plan["rates"] == [{"name": "lr", "dtype": "float64", "values": [0.001]}]


def test_objects_of_ours(tmp_path: Path) -> None:
    optimizer = adam(schedules.cosine(0.1))
    generate_artifacts(linear(), None, ["bias"], losses.hinge, optimizer, tmp_path, kind="web", steps=3)
    plan = json.loads((tmp_path / "training.json").read_text())
    assert plan["kind"] == "web"
    np.testing.assert_allclose(
        plan["rates"][0]["values"], optimizer.schedule.rates(3) if optimizer.schedule else []
    )
    assert "bias" not in load_state(tmp_path)


def test_loss_that_the_model_computes(tmp_path: Path) -> None:
    weight = _random(4, 3)
    model = trace(lambda x: op.ReduceMean(op.MatMul(x, weight), keepdims=0), FLOAT["N", 4])
    generate_artifacts(model, optimizer="SGD", artifact_directory=tmp_path)
    found = opened(tmp_path).step({"x": np.ones((2, 4), np.float32)})
    np.testing.assert_allclose(found, (np.ones((2, 4)) @ weight).mean(), rtol=1e-5)


def test_loss_of_some_outputs(tmp_path: Path) -> None:
    generate_artifacts(
        with_two_outputs(),
        loss=LossType.CrossEntropyLoss,
        optimizer="SGD",
        artifact_directory=tmp_path,
        loss_input_names=["scores"],
        additional_output_names=["hidden"],
    )
    x, labels = _random(5, 4), np.arange(5) % 3
    found = opened(tmp_path).evaluate({"x": x, "target": labels})
    np.testing.assert_allclose(found["hidden"], np.tanh(x), rtol=1e-5)
    expected = nn.functional.cross_entropy(torch.tensor(found["scores"]), torch.tensor(labels))
    np.testing.assert_allclose(found["loss"], expected, rtol=1e-5)


def test_texts_are_inputs(tmp_path: Path) -> None:
    table = _random(3, 2)

    def forward(words: Any) -> Any:
        return op.Gather(
            table, ml.LabelEncoder(words, keys_strings=["a", "b"], values_int64s=[0, 1], default_int64=2)
        )

    model = trace(forward, STRING["N"], input_names=["words"])
    generate_artifacts(model, loss="MSELoss", optimizer="SGD", artifact_directory=tmp_path)
    training = opened(tmp_path)
    target = np.zeros((3, 2), np.float32)
    found = training.step({"words": np.array(["a", "b", "c"]), "target": target}, lr=0.5)
    np.testing.assert_allclose(found, (table**2).mean(), rtol=1e-5)
    assert training.step({"words": np.array(["a", "b", "c"], object), "target": target}) < found


def test_working_directory_and_prefixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    for prefix in ("one_", "two_", "one_"):
        generate_artifacts(linear(), loss="MSELoss", optimizer="SGD", prefix=prefix)
    names = (
        "evaluation.onnx",
        "inference.onnx",
        "state.bin",
        "train.py",
        "training.json",
        "training_step.onnx",
    )
    assert sorted(os.listdir(tmp_path)) == [
        "notes.txt",
        *("one_" + each for each in names),
        *("two_" + each for each in names),
    ]
    assert load_state(tmp_path, prefix="two_")["bias"].shape == (3,)
    generate_artifacts(linear(), loss="MSELoss", optimizer="SGD", prefix="three_", kind="web")
    assert '"./three_train.mjs"' in (tmp_path / "three_index.html").read_text()
    assert '"three_training.json"' in (tmp_path / "three_train.mjs").read_text()
    (tmp_path / "train.py").write_text("mine")
    with pytest.raises(ModelWriteError, match=r"it holds .train.py., which is of no package"):
        generate_artifacts(linear(), loss="MSELoss", optimizer="SGD")
    assert (tmp_path / "train.py").read_text() == "mine"


#: A class as onnxruntime-training has them.
_Block = types.new_class(
    "MSELoss", (), {}, lambda body: body.update(__module__="onnxruntime.training.onnxblock.loss")
)

REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "ort_format": (
        {"ort_format": True},
        AttributeValueError,
        "ort_format=True: a package has models in ONNX's format",
    ),
    "custom_op_library": ({"custom_op_library": "a.so"}, AttributeValueError, "custom_op_library='a.so'"),
    "nominal_checkpoint": ({"nominal_checkpoint": True}, AttributeValueError, "nominal_checkpoint=True"),
    "no optimizer": ({"optimizer": None}, AttributeValueError, "optimizer is None"),
    "optimizer misspelt": ({"optimizer": "AdamV"}, AttributeValueError, "did you mean 'AdamW'?"),
    "optimizer of another type": (
        {"optimizer": 3},
        AttributeTypeError,
        "the optimizer is one that sgd or adam makes",
    ),
    "loss misspelt": ({"loss": "L2Loss"}, LossError, "did you mean 'L1Loss'?"),
    "loss of theirs": ({"loss": _Block()}, AttributeTypeError, "loss is an object of onnxruntime-training"),
    "optimizer of theirs": (
        {"optimizer": _Block()},
        AttributeTypeError,
        "optimizer is an object of onnxruntime-training",
    ),
    "trained and frozen": (
        {"requires_grad": ["bias"], "frozen_params": ["bias"]},
        AttributeValueError,
        "the weight 'bias' stands in requires_grad and in frozen_params",
    ),
    "weight misspelt": ({"requires_grad": ["bais"]}, UnknownNameError, "did you mean 'bias'?"),
    "no such output": (
        {"additional_output_names": ["add"]},
        AttributeValueError,
        "which is no output of the model",
    ),
    "no such output for the loss": (
        {"loss_input_names": ["x"]},
        AttributeValueError,
        "loss_input_names has 'x'",
    ),
    "prefix with a folder": ({"prefix": "a/b"}, AttributeValueError, "prefix is the beginning of names"),
    "kind misspelt": ({"kind": "browser"}, AttributeValueError, 'a package is for "python" or for "web"'),
    "rates of how many steps": (
        {"optimizer": adam(schedules.cosine(0.1))},
        AttributeValueError,
        "the rates of a number of steps",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    given, kind, text = REFUSED[name]
    with pytest.raises(kind) as raised:
        generate_artifacts(
            **{
                "model": linear(),
                "loss": "MSELoss",
                "optimizer": "SGD",
                "artifact_directory": tmp_path,
                **given,
            }
        )
    assert text in str(raised.value)
    assert os.listdir(tmp_path) == []


def test_several_outputs_are_no_loss(tmp_path: Path) -> None:
    with pytest.raises(LossError, match="it has 2: hidden, scores"):
        generate_artifacts(with_two_outputs(), optimizer="SGD", artifact_directory=tmp_path)


def test_sequences_are_no_inputs(tmp_path: Path) -> None:
    from onnxsmith.errors import CallError
    from onnxsmith.types import SequenceType, TensorType

    weight = _random(4, 3)
    given = SequenceType(TensorType(FLOAT.dtype, ("N", 4)))
    model = trace(
        lambda parts: op.MatMul(op.ConcatFromSequence(parts, axis=0), weight), given, input_names=["parts"]
    )
    with pytest.raises(CallError, match="'parts' is a sequence"):
        generate_artifacts(
            model, loss="MSELoss", optimizer="SGD", artifact_directory=tmp_path, loss_input_names=None
        )


def test_labels_may_be_named_by_the_model(tmp_path: Path) -> None:
    weight = _random(4, 3)

    def forward(x: Any, labels: Any) -> Any:
        return op.SoftmaxCrossEntropyLoss(op.MatMul(x, weight), labels)

    model = trace(forward, FLOAT["N", 4], INT64["N"], input_names=["x", "labels"])
    generate_artifacts(model, optimizer="SGD", artifact_directory=tmp_path)
    plan = json.loads((tmp_path / "training.json").read_text())
    assert [each["name"] for each in plan["data"]] == ["x", "labels"]
