"""The source with times beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.profiling.programs import called_twice, control_flow, convolution, floats


def test_each_line_has_its_time() -> None:
    model, inputs = control_flow()
    profile = model.profile(inputs, runs=2)
    shown = profile.listing()
    assert re.search(r"\d %\s+[\d.]+ [µm]s\s+\d+ \|\s+y = activation\(y @ x\)$", shown, re.MULTILINE)
    assert re.search(r"\d %\s+[\d.]+ [µm]s\s+\d+ \|\s+for _ in range\(n\):$", shown, re.MULTILINE)
    assert re.search(r"^\s+\d+ \|\s+else:$", shown, re.MULTILINE)
    shares = [float(each) for each in re.findall(r"^\s*([\d.]+) %", shown, re.MULTILINE)]
    assert sum(shares) == pytest.approx(100, abs=1)


def test_fused_lines_point_at_the_one_that_has_the_time() -> None:
    model, inputs = convolution()
    lines = model.profile(inputs, runs=1).listing().splitlines()
    (relu,) = [each for each in lines if "return op.Relu(y)" in each]
    number = re.search(r"(\d+) \|", relu)
    assert number is not None
    assert "%" in relu
    assert [f"with {number[1]}" in each for each in lines if "op.Conv" in each] == [True]


def test_source_below_a_folder_that_the_user_names_is_shown(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("def forward(x):\n    return op.Relu(x)\n")
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    proto.graph.node[0].metadata_props[0].value = "net.py:2:12-2:22"
    model = onnxsmith.Model.from_proto(proto)
    assert "op.Relu(x)" not in model.profile([floats(4)], runs=1).listing()
    with onnxsmith.source_root(tmp_path):
        assert "return op.Relu(x)" in model.profile([floats(4)], runs=1).listing()


def test_lines_that_nobody_knows() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    del proto.graph.node[0].metadata_props[:]
    profile = onnxsmith.Model.from_proto(proto).profile([floats(4)], runs=1)
    assert "100.0 %" in profile.listing()
    assert "not known" in profile.listing()
    assert profile.best_grouping == "node"


def test_nothing_of_a_model_moves_a_cursor() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    proto.graph.node[0].metadata_props[0].value = "a\x1b[2J.py:2:12-2:22"
    proto.graph.node[0].name = "b\x1b[2J"
    profile = onnxsmith.Model.from_proto(proto).profile([floats(4)], runs=1)
    for text in (profile.listing(), profile.table("line"), profile.table("node"), str(profile)):
        assert "\x1b" not in text


def test_lines_that_call_functions_have_what_these_took_in_brackets() -> None:
    model, inputs = called_twice()
    profile = model.profile(inputs, runs=1)
    (line,) = [each for each in profile.listing().splitlines() if "        x = layer(x)" in each]
    (row,) = [each for each in profile.by("call") if "layer_2" in each.label]
    assert re.match(r"\s*\(([\d.]+) % +\S+ \S+\) ", line)
    assert f"({100 * row.times.median / profile.total.median:.1f} %" in line
