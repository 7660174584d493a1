"""`onnxsmith extract`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import onnxsmith
from onnxsmith import FLOAT, Opset, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


def test_a_part(run: Run, model: Path) -> None:
    seen = run("extract", "m.onnx", "--inputs", "x", "--outputs", "y", "-o", "part.onnx", "--external-data")
    assert (seen.status, seen.err) == (0, "")
    assert seen.out.startswith("part.onnx: ")
    assert sorted(each.name for each in Path().glob("part*")) == ["part.onnx", "part.onnx.data"]
    part = onnxsmith.load("part.onnx")
    x = np.ones((2, 4), np.float32)
    np.testing.assert_array_equal(part(x), onnxsmith.load("m.onnx")(x, np.array([0]))[0])


def test_the_file_is_named_after_the_model(run: Run, model: Path) -> None:
    before = model.read_bytes()
    assert run("extract", "m.onnx", "--outputs", "y", "--json").json["written"] == ["m_part.onnx"]
    assert model.read_bytes() == before


def test_types_for_inputs(run: Run, tmp_path: Path) -> None:
    trace(lambda a: op.Relu(Opset("mine", 1).Foo(a)), FLOAT["N"]).save(tmp_path / "foo.onnx")
    seen = run("extract", "foo.onnx", "--inputs", "foo", "-o", "back.onnx")
    assert seen.status == 1
    assert "say it: --inputs 'foo=FLOAT[...]'" in seen.err
    seen = run("extract", "foo.onnx", "--inputs", "foo=FLOAT[N]", "-o", "back.onnx")
    assert seen.status == 0
    assert "Model(foo: FLOAT['N'])" in seen.out


def test_a_stranger_is_left_alone(run: Run, model: Path) -> None:
    Path("notes.onnx").write_text("mine")
    assert run("extract", "m.onnx", "-o", "notes.onnx").status == 1
    assert Path("notes.onnx").read_text() == "mine"
    assert run("extract", "m.onnx", "-o", "notes.onnx", "--force").status == 0
