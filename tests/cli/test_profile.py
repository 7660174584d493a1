"""`onnxsmith profile`."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trace(lambda x: op.Exp(op.Relu(x)), FLOAT["N"]).save("a.onnx")
    trace(lambda x: op.Tanh(op.Relu(x)), FLOAT["N"]).save("b.onnx")


def test_text(run: Run) -> None:
    seen = run("profile", "a.onnx", "--dim", "N=8", "--runs", "2", "--by", "operator")
    assert seen.status == 0
    for part in ("profile of a.onnx on (x: float32[8])", "2 runs after 3", "Exp", "Relu", "share"):
        assert part in seen.out


def test_json(run: Run) -> None:
    content = run("profile", "a.onnx", "--dim", "N=8", "--runs", "2", "--json").json
    assert content["file"] == "a.onnx"
    assert content["runs"] == 2
    assert sorted(each["operator"] for each in content["kernels"]) == ["Exp", "Relu"]


def test_listing_of_a_model_says_whose_words_the_places_are(run: Run) -> None:
    seen = run("profile", "a.onnx", "--dim", "N=8", "--runs", "1", "--listing")
    assert "test_profile.py, as a.onnx says" in seen.out


def test_two_models(run: Run) -> None:
    words = ("profile", "a.onnx", "--dim", "N=8", "--runs", "2", "--against", "b.onnx", "--by", "operator")
    seen = run(*words)
    assert seen.status == 0
    for part in ("profile of b.onnx", "gone", "new", "all kernels"):
        assert part in seen.out
    content = run(*words, "--json").json
    assert content["against"]["file"] == "b.onnx"
    assert {each["label"] for each in content["comparison"]["rows"]} == {"Exp", "Relu", "Tanh"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "0"], "--runs: it is a whole number, 1 at the least"),
        (["--limit", "-1"], "--limit"),
        (["--dim", "M=3"], "no input has such a dimension"),
        (["--against", "nowhere.onnx"], "nowhere.onnx"),
        (["--provider", "Nope"], "Nope"),
    ],
)
def test_wrong_words(run: Run, words: list[str], said: str) -> None:
    seen = run("profile", "a.onnx", "--dim", "N=8", *words)
    assert seen.status in (1, 2)
    assert said in seen.err
    assert "Traceback" not in seen.err


def test_open_dimensions_have_to_be_said(run: Run) -> None:
    seen = run("profile", "a.onnx")
    assert seen.status == 2
    assert "--dim" in seen.err


def test_a_page(run: Run, tmp_path: Path) -> None:
    content = run("profile", "a.onnx", "--dim", "N=8", "--runs", "1", "-o", "page.html", "--json").json
    assert content["written"] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


SCRIPTS = """
from onnxsmith import FLOAT, INT64, opset21 as op, jit, script

@script
def twice(x: FLOAT["N"]):
    return op.Exp(op.Relu(x))

@script
def network(x: FLOAT["N"], n: INT64):
    for _ in range(n):
        x = twice(x)
    return x

fast = jit(twice)
model = twice.to_model()
number = 3
"""


def test_a_script_in_a_python_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SCRIPTS)
    seen = run("profile", "net.py:network", "--dim", "N=8", "--runs", "1", "--listing")
    assert seen.status == 0
    assert "return op.Exp(op.Relu(x))" in seen.out
    assert "made no turn" not in seen.out
    for word in ("net.py:twice", "net.py:fast", "net.py:model", "net.py"):
        content = run("profile", word, "--dim", "N=8", "--runs", "1", "--json").json
        assert sorted(each["operator"] for each in content["kernels"]) == ["Exp", "Relu"]
    content = run("profile", "net.py:network", "--dim", "N=8", "--runs", "1", "--by", "call", "--json").json
    inside = [each for each in content["kernels"] if each["nodes"][0]["calls"]]
    assert [each["nodes"][0]["calls"] for each in inside] == [["0.body.0"]] * 2
    seen = run("profile", "a.onnx", "--against", "net.py:twice", "--dim", "N=8", "--runs", "1")
    assert "all kernels" in seen.out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("net.py:nothing", "net.py has no 'nothing'"),
        ("net.py:number", "neither a script nor a model"),
        ("nowhere.py:f", "there is no file nowhere.py"),
        ("net.py:", "is file.py:name"),
    ],
)
def test_what_is_no_script(run: Run, tmp_path: Path, word: str, said: str) -> None:
    (tmp_path / "net.py").write_text(SCRIPTS)
    seen = run("profile", word, "--dim", "N=8")
    assert seen.status == 2
    assert said in seen.err


def test_what_is_shown_unless_something_else_is_asked_for(run: Run) -> None:
    shown = run("profile", "a.onnx", "--dim", "N=8", "--runs", "1").out
    heads = [each.split()[-1] for each in shown.splitlines() if each.lstrip().startswith("share")]
    assert heads == ["line", "kernel"]
    alone = run("profile", "a.onnx", "--dim", "N=8", "--runs", "1", "--by", "node").out
    assert [each.split()[-1] for each in alone.splitlines() if each.lstrip().startswith("share")] == ["node"]
