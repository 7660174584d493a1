"""`onnxsmith compare`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def models(tmp_path: Path) -> None:
    trace(lambda x: op.Exp(op.Tanh(x) * 2.0), FLOAT["N", 4]).save(tmp_path / "good.onnx")
    trace(lambda x: op.Exp(op.Tanh(x) * 3.0), FLOAT["N", 4]).save(tmp_path / "bad.onnx")


def test_where_they_part(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 4), np.float32))
    seen = run("compare", "good.onnx", "--against", "bad.onnx", "--input", "x=x.npy")
    assert (seen.status, seen.err) == (1, "")
    assert seen.out.startswith("they part at Mul 'mul' (node 1, ")


def test_json_and_reproduction(run: Run, tmp_path: Path) -> None:
    seen = run("compare", "good.onnx", "--against", "bad.onnx", "--json", "--reproduce", "found")
    assert seen.status == 1
    assert (seen.json["equal"], seen.json["node"]["address"], seen.json["other"]["address"]) == (
        False,
        "1",
        "1",
    )
    assert seen.json["difference"]["size"] == 8
    assert (tmp_path / "found" / "node.onnx").exists()


@pytest.mark.parametrize(
    "words", [["--against", "reference"], ["--levels"], ["--provider", "CPUExecutionProvider"]]
)
def test_other_ways_to_run(run: Run, words: list[str]) -> None:
    seen = run("compare", "good.onnx", *words)
    assert (seen.status, seen.err) == (0, "")
    assert seen.out.startswith("equal: ")


def test_a_script(run: Run, tmp_path: Path) -> None:
    text = (
        "from onnxsmith import FLOAT, script, opset21 as op\n\n"
        "@script\ndef forward(x: FLOAT['N', 4]):\n    return op.Exp(op.Tanh(x) * 3.0)\n"
    )
    (tmp_path / "forward_net.py").write_text(text)
    assert run("compare", "forward_net.py:forward", "--against", "bad.onnx").status == 0
    assert run("compare", "forward_net.py:forward", "--against", "good.onnx").status == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["good.onnx"], "say what to compare with"),
        (["good.onnx", "--levels", "--against", "bad.onnx"], "say one of them"),
        (["good.onnx", "--levels", "--memory", "much"], "--memory is an amount"),
        (["good.onnx", "--against", "torch:nowhere"], "names no factory"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], said: str) -> None:
    seen = run("compare", *words)
    assert seen.status == 2
    assert said in seen.err
