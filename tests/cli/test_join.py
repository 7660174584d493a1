"""`onnxsmith join`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def models(tmp_path: Path) -> None:
    trace(lambda a: op.Relu(a), FLOAT["N"]).save(tmp_path / "relu.onnx")
    trace(lambda b: op.Neg(b), FLOAT["M"]).save(tmp_path / "neg.onnx")
    trace(lambda c, d: op.Add(c, d), FLOAT["K"], FLOAT["K"]).save(tmp_path / "add.onnx")


def test_several_in_order(run: Run) -> None:
    seen = run("join", "relu.onnx", "neg.onnx", "-o", "both.onnx", "--json")
    assert seen.json["file"] == ["relu.onnx", "neg.onnx"]
    assert seen.json["written"] == ["both.onnx"]
    np.testing.assert_array_equal(onnxsmith.load("both.onnx")(np.float32([-1, 2])), np.float32([0, -2]))


def test_what_goes_where(run: Run) -> None:
    seen = run("join", "relu.onnx", "add.onnx", "-o", "both.onnx")
    assert seen.status == 1
    assert "say it: --map relu=c" in seen.err
    assert (
        run("join", "relu.onnx", "add.onnx", "--map", "relu=c", "--map", "relu=d", "-o", "both.onnx").status
        == 0
    )
    np.testing.assert_array_equal(onnxsmith.load("both.onnx")(np.float32([-1, 2])), np.float32([0, 4]))


def test_a_map_is_for_two(run: Run) -> None:
    seen = run("join", "relu.onnx", "neg.onnx", "neg.onnx", "--map", "relu=b")
    assert seen.status == 2
