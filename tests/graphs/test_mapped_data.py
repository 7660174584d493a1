"""A loaded model keeps its weights when another file takes the place of theirs, and fails in words when they change."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ExternalDataError

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, ml_dtypes.int4, ml_dtypes.uint4]


def added(first: int, dtype: Any = np.float32) -> Model:
    weight = ((np.arange(4000) + first) % 7).reshape(40, 100).astype(dtype)
    return trace(lambda x: op.Cast(op.Identity(weight), to=1) + x, FLOAT[1])


X = np.ones(1, np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_model_that_was_saved_over_keeps_its_weights(dtype, tmp_path: Path) -> None:
    place = tmp_path / "m.onnx"
    added(0, dtype).save(place, external_data=True)
    wanted = added(0, dtype)(X)
    ways = [
        lambda model: model(X),
        lambda model: Model.from_proto(model.proto)(X),
        lambda model: copy.deepcopy(model)(X),
        lambda model: trace(lambda x: model(x) + 0.0, FLOAT[1])(X),
        lambda model: _saved_again(model, tmp_path / "inside.onnx", external_data=False)(X),
        lambda model: _saved_again(model, tmp_path / "beside.onnx", external_data=True)(X),
        lambda model: model.run(X, isolated=True),
    ]
    olds = [onnxsmith.load(place) for _ in ways]
    added(3, dtype).save(place, external_data=True)
    for way, old in zip(ways, olds, strict=True):
        assert np.array_equal(way(old), wanted)
    assert np.array_equal(onnxsmith.load(place)(X), added(3, dtype)(X))


def _saved_again(model: Model, place: Path, *, external_data: bool) -> Model:
    model.save(place, external_data=external_data)
    return onnxsmith.load(place)


def test_a_model_keeps_weights_whose_file_is_gone(tmp_path: Path) -> None:
    added(0).save(tmp_path / "m.onnx", external_data=True)
    old = onnxsmith.load(tmp_path / "m.onnx")
    os.remove(tmp_path / "m.onnx.data")
    assert np.array_equal(old(X), added(0)(X))


@pytest.mark.parametrize("size", [0, 100, 40 * 100 * 4])
def test_a_file_that_is_changed_where_it_stands_is_an_error(size: int, tmp_path: Path) -> None:
    added(0).save(tmp_path / "m.onnx", external_data=True)
    old = onnxsmith.load(tmp_path / "m.onnx")
    with open(tmp_path / "m.onnx.data", "r+b") as file:
        file.truncate(size)
        file.write(b"\1")
    os.utime(tmp_path / "m.onnx.data", ns=(1, 1))  # clocks of files are coarse
    with pytest.raises(ExternalDataError, match=r"m\.onnx\.data', .* was changed after the model was loaded"):
        old(X)
    with pytest.raises(ExternalDataError, match="was changed after"):
        old.save(tmp_path / "other.onnx")


def test_a_module_that_was_written_anew_keeps_its_weights(tmp_path: Path) -> None:
    place = added(0).decompile_to(tmp_path)
    old = onnxsmith.recompile(place.read_text(), tmp_path)
    added(3).decompile_to(tmp_path, overwrite=True)
    assert isinstance(old, Model)
    assert np.array_equal(old(X), added(0)(X))


def test_an_empty_weight_is_read_as_often_as_one_likes(tmp_path: Path) -> None:
    """As the `roi` of a `Resize` in older exports: its file holds nothing of it."""
    weight, empty = np.ones((40, 100), np.float32), np.zeros(0, np.float32)
    place = tmp_path / "m.onnx"
    model = trace(
        lambda x: op.Concat(x + op.ReduceSum(weight, keepdims=0), op.Identity(empty), axis=0), FLOAT["N"]
    )
    model.save(place)
    proto = onnx.load(place)
    onnx.save(proto, place, save_as_external_data=True, location="m.data", size_threshold=0)
    loaded = onnxsmith.load(place)
    wanted = loaded(X)
    assert loaded.optimize()(X).tolist() == wanted.tolist()
    assert "def " in onnxsmith.decompile(loaded)
    assert loaded.optimize().optimize()(X).tolist() == wanted.tolist()
    assert loaded.run(X, isolated=True).tolist() == wanted.tolist()
