"""`onnxsmith outline`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, Tensor, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    weights = [np.full((4, 4), k, np.float32) for k in range(3)]

    def network(x: Tensor) -> Tensor:
        for weight in weights:
            x = op.Tanh(x + op.Relu(x @ weight))
        return x

    path = tmp_path / "layers.onnx"
    trace(network, FLOAT["N", 4]).save(path)
    return path


def test_layers_as_a_function(run: Run, layers: Path) -> None:
    seen = run("outline", "layers.onnx", "-o", "outlined.onnx")
    assert (seen.status, seen.err) == (0, "")
    assert "12 nodes before, 7 after" in seen.out
    outlined = onnxsmith.load("outlined.onnx")
    assert [node.op_type for node in outlined.ir.graph] == ["block"] * 3
    x = np.array([[-1, 2, -3, 4]], np.float32)
    np.testing.assert_array_equal(outlined(x), onnxsmith.load(layers)(x))


def test_json(run: Run, layers: Path) -> None:
    said = json.loads(run("outline", "layers.onnx", "--json").out)
    assert said["nodes"] == {"before": 12, "after": 7}
    assert said["rules"] == {"call of block": 3, "function block": 1}
    assert said["written"] == ["layers_outlined.onnx"]


def test_what_is_not_there_is_said(run: Run, layers: Path) -> None:
    seen = run("outline", "layers.onnx", "--by", "scopes")
    assert seen.status == 0
    assert "names tell of no modules" in seen.out
