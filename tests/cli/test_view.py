"""`onnxsmith view`: pages and pictures from the command line."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from onnxsmith.cli.exit_codes import FINDINGS, GOOD, USAGE
from tests.cli.conftest import Run


def test_the_ending_says_what_is_written(run: Run, model: Path) -> None:
    assert run("view", "m.onnx", "-o", "m.html").status == GOOD
    seen = run("view", "m.onnx", "-o", "m.svg", "--json")
    assert seen.json["written"] == ["m.svg"]
    assert Path("m.html").read_text("utf-8").startswith("<!doctype html>")
    assert Path("m.svg").read_text("utf-8").startswith("<svg")
    refused = run("view", "m.onnx", "-o", "m.pdf")
    assert refused.status == USAGE
    assert ".html, .svg or .png" in refused.err


def test_the_source_is_left_out_on_request(run: Run, tmp_path: Path) -> None:
    Path("net.py").write_text(_PROGRAM, "utf-8")
    assert run("view", "net.py:forward", "-o", "with.html").status == GOOD
    assert run("view", "net.py:forward", "-o", "without.html", "--no-source").status == GOOD
    assert Path("without.html").stat().st_size < Path("with.html").stat().st_size


def test_a_strangers_file_stays(run: Run, model: Path) -> None:
    Path("notes.html").write_text("mine")
    seen = run("view", "m.onnx", "-o", "notes.html")
    assert seen.status == FINDINGS
    assert "--force" in seen.err
    assert Path("notes.html").read_text() == "mine"
    assert run("view", "m.onnx", "-o", "notes.html", "--force").status == GOOD


def test_without_a_file_the_browser_opens(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("BROWSER", "firefox")
    seen = run("view", "m.onnx", "--json")
    assert opened == [Path(seen.json["written"][0]).as_uri()]


_PROGRAM = """
from onnxsmith import FLOAT, script, opset21 as op

@script
def forward(x: FLOAT["N"]):
    return op.Relu(x * 2.0)

@script
def other(x: FLOAT["N"]):
    return op.Tanh(x)
"""


def test_a_script_of_a_python_file(run: Run, model: Path) -> None:
    Path("net.py").write_text(_PROGRAM, "utf-8")
    assert run("view", "net.py:forward", "-o", "net.svg").status == GOOD
    assert ">Relu<" in Path("net.svg").read_text("utf-8")
    seen = run("diff", "net.py:forward", "net.py:other")
    assert seen.status == FINDINGS
    assert "Tanh" in seen.out
    for word in ("net.py", "net.py:nothing", "nowhere.py:forward"):
        refused = run("view", word, "-o", "net.svg")
        assert refused.status == USAGE
        assert "Traceback" not in refused.err
