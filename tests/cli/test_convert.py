"""`onnxsmith convert`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, opset11, opset21, trace
from onnxsmith.schema import registry
from onnxsmith.schema.registry import default_opset_version
from tests.cli.conftest import Run

X = np.float32([[1, 2, 3]])


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "old.onnx"
    trace(lambda x: opset11.Squeeze(opset11.Neg(x), axes=[0]), FLOAT[1, "N"]).save(place)
    return place


def test_a_newer_model_is_written_and_what_changed_is_said(run: Run, old: Path) -> None:
    seen = run("convert", "old.onnx", "--opset", "21", "-o", "new.onnx")
    assert (seen.status, seen.err) == (0, "")
    assert seen.out.splitlines()[1:] == [
        "Model(x: FLOAT[1, 'N']) -> squeeze: FLOAT['N'], 2 nodes, opset 21",
        "2 nodes before, 2 after",
        "opset 11 before, 21 after",
        "weights 0 bytes before, 8 after",
        "       1 x axes as input",
    ]
    np.testing.assert_array_equal(onnxsmith.load("new.onnx")(X), -X[0])
    assert onnxsmith.load("old.onnx").opset_imports[""] == 11


def test_the_name_by_default_and_json(run: Run, old: Path) -> None:
    seen = run("convert", "old.onnx", "--opset", "13", "--json")
    assert seen.json["written"] == ["old_opset13.onnx"]
    assert seen.json["file"] == "old.onnx"
    assert seen.json["changes"] == ["axes as input: Squeeze 'squeeze' -> Squeeze 'squeeze'"]


def test_both_models_are_run_where_that_is_asked_for(run: Run, old: Path) -> None:
    seen = run("convert", "old.onnx", "--opset", "13", "--verify")
    assert seen.out.splitlines()[-1] == "verified: equal results for x [1, 2]"
    seen = run("convert", "old.onnx", "--opset", "13", "--verify", "--json")
    assert seen.json["verification"] == "verified: equal results for x [1, 2]"


@pytest.mark.parametrize(
    ("word", "version"),
    [("newest", registry.latest_version("")), ("runtime", default_opset_version())],
)
def test_the_newest_version_and_that_of_the_runtime(run: Run, old: Path, word: str, version: int) -> None:
    seen = run("convert", "old.onnx", "--opset", word, "--json")
    assert seen.json["written"] == [f"old_opset{version}.onnx"]
    is_late = version > default_opset_version()
    limit = f"the installed ONNX Runtime loads up to opset {default_opset_version()}"
    assert seen.json["notes"] == ([limit] if is_late else [])
    assert seen.err == ""
    assert [f"it is of opset {version}" in each for each in seen.json["warnings"]] == [True] * is_late


def test_another_word_is_no_version(run: Run, old: Path) -> None:
    seen = run("convert", "old.onnx", "--opset", "latest")
    assert seen.status == 2
    assert "--opset takes a version, 21, newest or runtime" in seen.err


def test_what_cannot_be_said_is_an_error_and_nothing_is_written(run: Run, old: Path) -> None:
    grid = np.zeros((1, 2, 2, 2), np.float32)
    trace(lambda x: opset21.GridSample(x, grid), FLOAT[1, 1, 4, 4]).save("sampled.onnx")
    seen = run("convert", "sampled.onnx", "--opset", "13", "-o", "older.onnx")
    assert seen.status == 1
    assert "GridSample came with opset 16" in seen.err
    assert not Path("older.onnx").exists()


@pytest.mark.parametrize("word", ["new", "=", "ai.onnx.ml=x", "1.5"])
def test_a_word_that_is_no_version(run: Run, old: Path, word: str) -> None:
    seen = run("convert", "old.onnx", "--opset", word)
    assert seen.status == 2
    assert "--opset takes a version" in seen.err


def test_versions_that_are_not_there(run: Run, old: Path) -> None:
    assert "opset 99 is not there" in run("convert", "old.onnx", "--opset", "99").err
    assert "nothing is known of the domain 'nobody'" in run("convert", "old.onnx", "--opset", "nobody=1").err
