"""Arguments that are no names, and weights that get others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError

WEIGHT = np.arange(1200, dtype=np.float32).reshape(4, 300)


def network() -> Model:
    return trace(lambda x: op.Relu(x @ WEIGHT), FLOAT["N", 4])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda model: model.extract(3),
        lambda model: model.extract([None]),
        lambda model: model.extract(outputs=b"relu"),
        lambda model: model.extract({"mat_mul": "FLOAT"}),
        lambda model: model.split(3),
        lambda model: model.split([3]),
        lambda model: model.with_outputs(3),
        lambda model: model.with_outputs(["mat_mul", None]),
        lambda model: model.then(3),
        lambda model: model.then(model, map=[("relu", "x")]),
        lambda model: model.then(model, map={"relu": 3}),
        lambda model: model.then(model, map={3: "x"}),
        lambda model: model.rename(3),
        lambda model: model.rename({3: "a"}),
        lambda model: model.with_shapes(3),
        lambda model: model.with_shapes({3: 4}),
        lambda model: model.with_shapes(x=3.5),
        lambda model: model.replace_weights(3),
        lambda model: model.replace_weights({3: WEIGHT}),
        lambda model: model.bind_inputs(3),
        lambda model: model.bind_inputs({3: WEIGHT}),
        lambda model: model.nix if hasattr(model, "nix") else onnxsmith.compose(model, 3),
        lambda model: model.extract(input="x"),
    ],
)
def test_arguments_that_are_no_names(wrong: Callable[[Any], object]) -> None:
    with pytest.raises(OnnxsmithError):
        wrong(network())


@pytest.mark.parametrize("form", ["made here", "of a proto", "in a file"])
def test_renamed_weights_are_weights(form: str, tmp_path: Path) -> None:
    model = network()
    if form == "of a proto":
        model = Model.from_proto(model.proto)
    if form == "in a file":
        model.save(tmp_path / "m.onnx", external_data=True)
        model = onnxsmith.load(tmp_path / "m.onnx")
    x = np.ones((2, 4), np.float32)
    wanted = model(x)
    renamed = model.rename({"WEIGHT": "other"})
    np.testing.assert_array_equal(renamed(x), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(renamed))(x), wanted)
    np.testing.assert_array_equal(renamed.for_runtime()(x), wanted)
    for external in (True, False):
        place = tmp_path / f"saved{external}.onnx"
        renamed.save(place, external_data=external)
        assert list(onnxsmith.load(place).ir.graph.initializers) == ["other"]
        np.testing.assert_array_equal(onnxsmith.load(place)(x), wanted)
    assert [each.name for each in model.proto.graph.initializer] == ["WEIGHT"]
