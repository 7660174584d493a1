"""`onnxsmith diff`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trace(lambda x: op.Exp(op.Relu(x)) * 2.0, FLOAT["N"]).save("a.onnx")
    trace(lambda x: op.Tanh(op.Relu(x)) * 3.0, FLOAT["N"]).save("b.onnx")


def test_text(run: Run) -> None:
    seen = run("diff", "a.onnx", "b.onnx")
    assert seen.status == 1
    assert "a.onnx -> b.onnx: 1 node changed, 1 weight changed" in seen.out
    assert "operator: Exp -> Tanh" in seen.out
    assert "       0  relu = Relu(x)" in seen.out
    assert "1 of 1 elements differ, by up to 1" in seen.out
    assert seen.err == ""
    assert "\x1b" not in seen.out


def test_equal_models(run: Run) -> None:
    seen = run("diff", "a.onnx", "a.onnx")
    assert seen.status == 0
    assert "do not differ" in seen.out


def test_json(run: Run) -> None:
    seen = run("diff", "a.onnx", "b.onnx", "--json")
    assert seen.status == 1
    content = seen.json
    assert (content["file"], content["other"], content["differ"]) == ("a.onnx", "b.onnx", True)
    node, weight = content["changes"]
    assert (node["thing"], node["kind"], node["before"], node["after"]) == ("node", "changed", "1", "1")
    assert weight["magnitude"]["largest"] == 1.0


def test_names(run: Run) -> None:
    trace(lambda x: op.Exp(op.Relu(x)) * 2.0, FLOAT["N"]).rename({"relu": "other"}).save("c.onnx")
    assert run("diff", "a.onnx", "c.onnx").status == 0
    seen = run("diff", "a.onnx", "c.onnx", "--names")
    assert seen.status == 1
    assert "output 0: 'relu' -> 'other'" in seen.out


def test_one_page_or_picture_of_both(run: Run, tmp_path: Path) -> None:
    content = run("diff", "a.onnx", "b.onnx", "-o", "page.html", "--json").json
    assert content["written"] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    run("diff", "a.onnx", "b.onnx", "-o", "page.svg")
    picture = (tmp_path / "page.svg").read_text(encoding="utf-8")
    assert all(f">{each}</text>" in picture for each in ("a.onnx", "b.onnx", "Exp", "Tanh", "~ changed"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.onnx", "b.onnx", "page.html", "page.svg"]
    (tmp_path / "page.html").write_text("mine")
    assert run("diff", "a.onnx", "b.onnx", "-o", "page.html").status != 0
    assert (tmp_path / "page.html").read_text() == "mine"


def test_colour_for_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[1;34m" in run("diff", "a.onnx", "b.onnx").out


@pytest.mark.parametrize(
    "words", [["a.onnx"], ["a.onnx", "nowhere.onnx"], ["a.onnx", "b.onnx", "--limit", "-1"], ["-", "-"]]
)
def test_wrong_words(run: Run, words: list[str]) -> None:
    seen = run("diff", *words)
    assert seen.status in (1, 2)
    assert "Traceback" not in seen.err
    assert seen.out == ""
