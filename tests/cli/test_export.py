"""`onnxsmith export`: modules of a Python file, and what it says of what is no module."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from tests.cli.conftest import Run

torch = pytest.importorskip("torch")

NETWORK = """\
import torch


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x, scale=None):
        y = self.drop(self.first(x))
        return y if scale is None else y * scale


torch.manual_seed(0)
network = Network()
example_inputs = (torch.ones(2, 4),)
other = {"x": torch.ones(3, 4), "scale": torch.ones(3, 1)}
number = 3


def sized(width):
    return torch.nn.Linear(width, width)
"""


@pytest.fixture(autouse=True)
def network(tmp_path: Path) -> Path:
    path = tmp_path / "network.py"
    path.write_text(NETWORK)
    return path


def ports(file: str) -> list[str]:
    return [str(each.type) for each in onnxsmith.load(file).inputs]


def test_named_dimensions_stay_open_and_dropout_is_off(run: Run) -> None:
    seen = run("export", "network.py:network", "--input-types", "FLOAT[N, 4]", "--verify")
    assert seen.status == 0, seen.err
    model = onnxsmith.load("network.onnx")
    assert str(model.inputs[0].type) == "FLOAT['N', 4]"
    assert np.shape(model(np.ones((7, 4), np.float32))) == (7, 3)
    assert "Dropout" not in {each.op_type for each in model.proto.graph.node}
    assert "agrees" in seen.out


def test_inputs_by_name_and_a_class(run: Run) -> None:
    words = ["--input-types", "x=FLOAT[N, 4]", "scale=FLOAT[N, 1]", "--dim", "N=5", "-o", "m.onnx"]
    assert run("export", "network.py:Network", *words).status == 0
    assert ports("m.onnx") == ["FLOAT['N', 4]", "FLOAT['N', 1]"]


def test_the_example_of_the_file(run: Run) -> None:
    assert run("export", "network.py:network", "-o", "m.onnx").status == 0
    assert ports("m.onnx") == ["FLOAT[2, 4]"]
    assert run("export", "network.py:network", "--example", "other", "-o", "m.onnx").status == 0
    assert ports("m.onnx") == ["FLOAT[3, 4]", "FLOAT[3, 1]"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["network.py"], "say which module"),
        (["network.py:number"], "is no torch.nn.Module but of type int"),
        (["network.py:sized"], "needs width"),
        (["network.py:nix"], "has no 'nix'"),
        (["network.py:network", "--example", "nix"], "has no 'nix'"),
        (["network.py:network", "--dim", "N=3"], "--dim gives dimensions of --input-types"),
        (["network.py:network", "--input-types", "FLOAT[N, 4]", "--dim", "M=3"], "--dim M"),
        (["network.py:network", "--input-types", "FLOAT[4", "-o", "m.onnx"], "is no type"),
        (["network.py:network", "--example", "other", "--input-types", "FLOAT"], "say one of them"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], message: str, tmp_path: Path) -> None:
    seen = run("export", *words)
    assert seen.status == 2
    assert message in seen.err
    assert not list(tmp_path.glob("*.onnx"))


@pytest.mark.parametrize(
    "words", [[], ["--input-types", "FLOAT[4]", "FLOAT[4]", "FLOAT[4]"], ["--input-types", "y=FLOAT[4]"]]
)
def test_examples_that_do_not_fit_get_the_options(run: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "bare.py").write_text(NETWORK.replace("example_inputs", "unused"))
    seen = run("export", "bare.py:network", *words)
    assert seen.status == 1
    assert "Network.forward(x, scale=None)" in seen.err
    assert "--input-types 'FLOAT[N, 4]'" in seen.err
    assert "--example NAME" in seen.err
    assert "example_inputs" in seen.err
    assert "args is" not in seen.err
    assert run("export", "bare.py:network", *words, "--json").json["error"]["help"].startswith("say the type")


@pytest.mark.parametrize(
    "words",
    [
        ["build", "network.py:network"],
        ["build", "network.py"],
        ["view", "network.py:network", "-o", "page.html"],
        ["diff", "network.py:network", "m.onnx"],
        ["profile", "network.py:network"],
        ["compare", "network.py:network", "--levels"],
    ],
)
def test_other_commands_point_here(run: Run, words: list[str]) -> None:
    seen = run(*words)
    assert seen.status == 2
    assert "network.py:network is a PyTorch module" in seen.err
    assert "onnxsmith export network.py:network\n" in seen.err


def test_what_is_no_module_is_not_pointed_here(run: Run) -> None:
    seen = run("build", "network.py:number")
    assert "is a int" in seen.err
    assert "onnxsmith export" not in seen.err
