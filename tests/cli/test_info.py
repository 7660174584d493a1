"""`onnxsmith info`."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition, written
from tests.cli.conftest import Run


def test_text(run: Run, model: Path) -> None:
    seen = run("info", "m.onnx")
    assert seen.status == 0
    for part in (
        "FLOAT['N', 4]",
        "INT64['K']",
        "MatMul",
        "Gather",
        "nodes: 2",
        "400 elements",
        "m.onnx.data",
        "1.6 kB",
    ):
        assert part in seen.out


def test_json(run: Run, model: Path) -> None:
    content = run("info", "m.onnx", "--json").json[0]
    assert content["inputs"] == [{"name": "x", "type": "FLOAT['N', 4]"}, {"name": "i", "type": "INT64['K']"}]
    assert content["outputs"][0] == {"name": "y", "type": "FLOAT['N', 100]"}
    assert content["opsets"] == {"ai.onnx": 21}
    assert content["nodes"] == {"Gather": 1, "MatMul": 1}
    assert content["ir_version"] == onnx.load("m.onnx", load_external_data=False).ir_version
    assert content["producer"] == "onnxsmith"
    assert content["weights"] == {"count": 1, "elements": 400, "bytes": 1600, "by_type": {"FLOAT": 1600}}
    assert content["external_data"] == [{"file": "m.onnx.data", "bytes": 1600}]


def test_weights(run: Run, model: Path) -> None:
    weights = run("info", "m.onnx", "--weights", "--json").json[0]["weights"]["list"]
    assert [(each["type"], each["shape"], each["file"]) for each in weights] == [
        ("FLOAT", [4, 100], "m.onnx.data")
    ]
    assert "FLOAT[4, 100]" in run("info", "m.onnx", "--weights").out


def test_functions_and_subgraphs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from onnxsmith import FLOAT, script\n\n\n"
        '@script\ndef inner(x: FLOAT["N"], alpha: float):\n    return x * alpha\n\n\n'
        '@script\ndef outer(x: FLOAT["N"]):\n    y = inner(x, alpha=2.0)\n    if x.sum() > 0.0:\n'
        "        y = y + 1.0\n    return y\n"
    )
    assert run("build", "net.py:outer", "-o", "m.onnx").status == 0
    content = run("info", "m.onnx", "--json").json[0]
    assert content["nodes"]["If"] == 1
    assert content["nodes"]["net::inner"] == 1
    assert content["nodes"]["Add"] == 1  # in a branch
    function = content["functions"][0]
    assert (function["domain"], function["name"], function["attributes"]) == ("net", "inner", ["alpha"])
    assert "net.inner(x, alpha=)" in run("info", "m.onnx").out


def test_names_in_a_model_cannot_move_the_cursor(run: Run, tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { b = Relu(a) }'
    model = onnx.parser.parse_model(text)
    model.producer_name = "\x1b[2J\x07evil"
    onnx.save(model, tmp_path / "m.onnx")
    seen = run("info", "m.onnx")
    assert seen.status == 0
    assert "\x1b" not in seen.out
    assert r"\x1b[2J\x07evil" in seen.out


def test_errors(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_text("no model")
    seen = run("info", "m.onnx")
    assert seen.status == 1
    assert "[F101]" in seen.err
    seen = run("info", "m.onnx", "--json")
    assert seen.json[0]["error"]["code"] == "F101"
    assert seen.json[0]["error"]["kind"] == "UnreadableModelError"


def test_the_sizes_that_a_model_is_for(run: Run, tmp_path: Path) -> None:
    model = trace(
        lambda x: x + 1.0, FLOAT["N"], metadata={SIZES_KEY: written([SizeCondition("N <= 4", "net.py:3")])}
    )
    model.save(tmp_path / "small.onnx")
    assert "only for sizes\n  N <= 4  net.py:3\n" in run("info", "small.onnx").out
    assert run("info", "small.onnx", "--json").json[0]["sizes"] == [
        {"condition": "N <= 4", "because": "net.py:3"}
    ]


def test_nodes_and_sizes(run: Run, tmp_path: Path) -> None:
    trace(lambda x: op.Exp(op.Relu(x)), FLOAT["N", 4]).save(tmp_path / "two.onnx")
    shown = run("info", "two.onnx", "--nodes").out
    assert "  0  Relu(x)    relu: FLOAT['N', 4]" in shown
    assert "  1  Exp(relu)  exp: FLOAT['N', 4]" in shown
    assert "test_info.py:" in shown
    assert "Relu(x)" not in run("info", "two.onnx").out
    (content,) = run("info", "two.onnx", "--nodes", "--dim", "N=8", "--json").json
    assert [each["outputs"][0]["type"] for each in content["node_list"]] == ["FLOAT[8, 4]"] * 2
    assert content["inputs"] == [{"name": "x", "type": "FLOAT[8, 4]"}]
    assert isinstance(content["flops"], int)
    assert content["node_list"][1]["inputs"] == ["relu"]


@pytest.mark.parametrize(
    ("word", "said"),
    [("M=8", "no input has such a dimension"), ("N", "name=size"), ("N=x", "no size"), ("N=-1", "no size")],
)
def test_wrong_sizes(run: Run, tmp_path: Path, word: str, said: str) -> None:
    trace(lambda x: op.Relu(x), FLOAT["N", 4]).save(tmp_path / "one.onnx")
    seen = run("info", "one.onnx", "--dim", word)
    assert seen.status == 2
    assert said in seen.err


def test_what_a_provider_leaves_to_the_cpu(run: Run, model: Path) -> None:
    if "AzureExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("this build of ONNX Runtime has the CPU alone")
    seen = run("info", "m.onnx", "--provider", "azure")
    assert "left to the CPU: MatMul (1), Gather (1)" in seen.out
    assert "copies between devices in each run: 0" in seen.out
    found = run("info", "m.onnx", "--provider", "azure", "--json").json[0]["provider"]
    assert found["names"] == ["AzureExecutionProvider"]
    assert found["on_cpu"] == {"MatMul": 1, "Gather": 1}
    assert "left to" not in run("info", "m.onnx", "--provider", "cpu").out


def test_a_provider_that_is_not_there(run: Run, model: Path) -> None:
    seen = run("info", "m.onnx", "--provider", "rocm")
    assert seen.status != 0
    assert "pip install onnxruntime-rocm" in seen.err
