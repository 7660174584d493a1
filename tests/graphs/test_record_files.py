"""A model that is saved as it was recorded gives the file that its onnx-ir gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onnxsmith import FLOAT, Weights, load, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelWriteError
from onnxsmith.graphs import files
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.records import ModelRecord

LARGE = np.arange(200 * 200, dtype=np.float32).reshape(200, 200)
SMALL = np.float32([1, 2])


def _model() -> Model:
    return trace(lambda x: op.Concat(x @ LARGE, SMALL[None].repeat(2, 0), axis=1), FLOAT[2, 200])


def test_the_file_is_the_one_that_onnx_ir_gives(tmp_path: Path) -> None:
    model = _model()
    model.save(tmp_path / "recorded.onnx")
    assert isinstance(model._held, ModelRecord)
    files.save(model.ir, tmp_path / "made.onnx", None)
    assert (tmp_path / "recorded.onnx").read_bytes() == (tmp_path / "made.onnx").read_bytes()


def test_weights_of_a_file_go_into_the_new_one(tmp_path: Path) -> None:
    _model().save(tmp_path / "given.onnx", external_data=True)
    weights = Weights(tmp_path / "given.onnx")
    model = trace(lambda x: x @ weights["LARGE"], FLOAT[2, 200])
    model.save(tmp_path / "whole.onnx")
    assert isinstance(model._held, ModelRecord)
    (tensor,) = load(tmp_path / "whole.onnx").proto.graph.initializer
    assert tensor.raw_data == LARGE.tobytes()
    assert not tensor.external_data


def test_weights_that_go_beside_do_so(tmp_path: Path) -> None:
    _model().save(tmp_path / "m.onnx", external_data=True)
    assert {each.name for each in tmp_path.iterdir()} == {"m.onnx", "m.onnx.data"}


@pytest.mark.parametrize("place", ["none/m.onnx", "."])
def test_what_cannot_be_written_leaves_nothing(place: str, tmp_path: Path) -> None:
    with pytest.raises(ModelWriteError):
        _model().save(tmp_path / place)
    assert not list(tmp_path.iterdir())
