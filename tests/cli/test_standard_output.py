"""Standard output is for results: what a user's Python file prints goes to standard error, whoever runs the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from onnxsmith.cli import COMMANDS
from onnxsmith.cli.exit_codes import FINDINGS, GOOD
from tests.cli.conftest import Run

PROGRAM = """\
import sys

from onnxsmith import FLOAT, Rule, script, trace
from onnxsmith import opset21 as op

print("at import")
sys.stdout.write("at import, by hand\\n")


def told(number):
    sys.stdout.write("in a function\\n")
    return number


@script
def forward(x: FLOAT["N", 4]):
    print("in the script")
    return op.Relu(x) + told(1.0)


def pattern(x):
    print("in a pattern")
    return op.Relu(op.Relu(x))


rules = [Rule(pattern, lambda x: op.Relu(x), name="relu of relu")]
"""

NETWORK = """\
import torch

print("at import")


class Network(torch.nn.Module):
    def forward(self, x):
        print("in forward")
        return torch.relu(x)


def made():
    print("in a function")
    return Network(), (torch.ones(2, 4),)


network = Network()
"""

#: The words that make a command run a file that prints.
WORDS = {
    "build": ["noisy.py:forward"],
    "export": ["network.py:network", "--input-types", "FLOAT[N, 4]", "--verify"],
    "check": ["noisy.py"],
    "compare": ["noisy.py:forward", "--levels"],
    "rewrite": ["noisy.onnx", "--rules", "noisy.py"],
    "view": ["noisy.py:forward", "-o", "page.html"],
    "diff": ["noisy.py:forward", "noisy.onnx"],
    "profile": ["noisy.py:forward", "--dim", "N=2", "--runs", "1"],
}


def runs_programs(name: str) -> bool:
    return any(each.completes in ("python", "program") for each in COMMANDS[name].arguments)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if "export" in request.node.name or "torch" in request.node.name:
        pytest.importorskip("torch")
    (tmp_path / "noisy.py").write_text(PROGRAM)
    (tmp_path / "network.py").write_text(NETWORK)
    return tmp_path


@pytest.fixture
def model(run: Run) -> None:
    assert run("build", "noisy.py:forward", "-o", "noisy.onnx", "-q").status == GOOD


def test_every_command_that_runs_a_program_is_tried() -> None:
    assert set(WORDS) == {name for name in COMMANDS if runs_programs(name)}


@pytest.mark.parametrize("name", WORDS)
def test_the_json_of_a_program_that_prints(run: Run, model: None, name: str) -> None:
    seen = run(name, *WORDS[name], "--json")
    assert seen.status == GOOD, seen.err
    assert isinstance(seen.json, list) == COMMANDS[name].takes_several
    assert "at import" in seen.err


@pytest.mark.parametrize("name", WORDS)
def test_the_text_and_the_silence_of_a_program_that_prints(run: Run, model: None, name: str) -> None:
    seen = run(name, *WORDS[name])
    assert seen.out
    assert "at import\n" not in seen.out
    assert run(name, *WORDS[name], "-q").out == ""


def test_what_functions_print(run: Run) -> None:
    assert "in a function" in run("build", "noisy.py:forward", "--json").err


def test_what_torch_modules_and_their_factories_print(run: Run) -> None:
    assert "in forward" in run("export", *WORDS["export"], "--json").err
    words = ["--against", "torch:network.py:made", "--json"]
    assert run("export", *WORDS["export"], "-o", "m.onnx").status == GOOD
    seen = run("compare", "m.onnx", *words)
    assert seen.json["against"] == "torch:network.py:made"
    assert "in a function" in seen.err


@pytest.mark.parametrize("ending", ["1 / 0", "sys.exit(3)", "import io; sys.stdout = io.StringIO()"])
def test_a_program_that_prints_and_fails_or_takes_the_stream(run: Run, folder: Path, ending: str) -> None:
    before = sys.stdout
    (folder / "broken.py").write_text(f"{PROGRAM}\n{ending}\n")
    seen = run("build", "broken.py:forward", "--json")
    assert seen.status == (GOOD if "StringIO" in ending else FINDINGS)
    assert ("error" in seen.json) == (seen.status == FINDINGS)
    assert sys.stdout is before


def test_a_pipe_gets_the_model_alone(folder: Path) -> None:
    words = [sys.executable, "-m", "onnxsmith", "build", "noisy.py:forward", "-o", "-"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    assert done.returncode == GOOD
    assert b"at import" in done.stderr
    onnx.checker.check_model(onnx.load_model_from_string(done.stdout))


def test_without_standard_error(folder: Path) -> None:
    command = f"'{sys.executable}' -m onnxsmith check noisy.py --json 2>&-"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)[0]["checked"] == ["forward"]
