"""`onnxsmith optimize`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture
def wasteful(tmp_path: Path) -> Path:
    path = tmp_path / "wasteful.onnx"
    trace(lambda x: op.Relu(op.Transpose(op.Transpose(x))), FLOAT["N", 4]).save(path)
    return path


def test_fewer_nodes(run: Run, wasteful: Path) -> None:
    seen = run("optimize", "wasteful.onnx", "-o", "small.onnx", "--verify")
    assert (seen.status, seen.err) == (0, "")
    assert "3 nodes before, 1 after" in seen.out
    assert "verified: equal results" in seen.out
    small = onnxsmith.load("small.onnx")
    assert [node.op_type for node in small.ir.graph] == ["Relu"]
    x = np.array([[-1, 2, -3, 4]], np.float32)
    np.testing.assert_array_equal(small(x), np.maximum(x, 0))


def test_json(run: Run, wasteful: Path) -> None:
    seen = run("optimize", "wasteful.onnx", "--json")
    said = json.loads(seen.out)
    assert said["nodes"] == {"before": 3, "after": 1}
    assert said["rules"] == {"transpose of transpose": 1}
    assert said["written"] == ["wasteful_optimized.onnx"]


def test_loops_are_unrolled_on_request(run: Run, tmp_path: Path) -> None:
    @script
    def thrice(x: FLOAT[2]):
        for turn in range(op.Constant(value_int=3)):
            x = op.Tanh(x + op.Cast(turn, to=1))
        return x

    thrice.to_model().save(tmp_path / "loop.onnx")
    assert run("optimize", "loop.onnx", "-o", "same.onnx").status == 0
    assert run("optimize", "loop.onnx", "-o", "flat.onnx", "--unroll", "3", "--verify").status == 0
    found = [[node.op_type for node in onnxsmith.load(name).ir.graph] for name in ("same.onnx", "flat.onnx")]
    assert found == [["Loop"], ["Tanh", "Add", "Tanh", "Add", "Tanh"]]
