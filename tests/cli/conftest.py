"""A folder with a small program and a model, and a way to run the command line in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op
from onnxsmith.cli import main

PROGRAM = """\
import numpy as np
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op

WEIGHT = np.ones((4, 3), np.float32)


@script
def gelu(x: FLOAT[...]):
    return 0.5 * x * (op.Erf(x * 0.70710678) + 1.0)


@script
def forward(x: FLOAT["N", 4], axis: int = -1):
    return op.Softmax(gelu(x @ WEIGHT), axis=axis)


@script
def scaled(x, alpha: float, mode: str = "edge"):
    return op.Pad(x * alpha, [1, 1], mode=mode)


def plain(x: FLOAT["N"]):
    return x + 1.0


traced = trace(plain, FLOAT["N"])
NUMBER = 3
"""

RULES = """\
from onnxsmith import Rule
from onnxsmith import opset21 as op

first = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x), name="relu of relu")
second = Rule(lambda x: op.Neg(op.Neg(x)), lambda x: x, name="neg of neg")
"""

WRONG = """\
from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op


@script
def first(x: FLOAT["N"]):
    return op.Reul(x)


@script
def second(x: FLOAT["N"], n: INT64["N"]):
    return x + n


@script
def third(x: FLOAT["N"]):
    return first(x)


@script
def good(x: FLOAT["N"]):
    return later(x)


@script
def later(x: FLOAT["N"]):
    return x.reshape(2.5)
"""


@dataclass(frozen=True)
class Seen:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Seen]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def run_it(*arguments: str) -> Seen:
        status = main(list(arguments))
        for name in ["net", "wrong", "program", *(each for each in sys.modules if each not in before)]:
            if getattr(sys.modules.get(name), "__file__", "") and str(tmp_path) in str(
                sys.modules[name].__file__
            ):
                del sys.modules[name]
        captured = capsys.readouterr()
        return Seen(status, captured.out, captured.err)

    return run_it


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG, encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """y = x @ weight and picked = x[i], with the weight in a file beside the model."""
    weight = np.arange(400, dtype=np.float32).reshape(4, 100)
    path = tmp_path / "m.onnx"
    traced = trace(
        lambda x, i: (x @ weight, op.Gather(x, i)), FLOAT["N", 4], INT64["K"], output_names=["y", "picked"]
    )
    traced.save(path, external_data=True)
    return path
