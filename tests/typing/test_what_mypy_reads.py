"""A program that uses onnxsmith makes mypy read our stubs, numpy and onnx: not what is behind them.

mypy follows every import of every module it reads. Through our own modules it would read onnx-ir and PyTorch, and take
ten times as long.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import numpy as np

import onnxsmith
from onnxsmith import FLOAT, INT64, Model, errors, jit, load, runtime, script, trace
from onnxsmith import opset21 as op


@script
def gelu(x: FLOAT) -> FLOAT:
    return x * 0.5 * (op.Erf(x / 1.4142135) + 1.0)


@script(default_opset=op)
def scaled(x: FLOAT, n: INT64, alpha: float = 1.0) -> FLOAT:
    if op.ReduceSum(x, keepdims=0) > 0.0:
        y = gelu(x) * alpha
    else:
        y = op.Cast(n, to=FLOAT) - x
    return y


def read(path: str) -> Model:
    try:
        return load(path)
    except errors.UnreadableModelError:
        return trace(lambda a: op.Relu(a) @ a, FLOAT)


x = np.ones((2, 2), dtype=np.float32)
with runtime.using(runtime="reference"):
    print(scaled(x, 3, alpha=2.0), jit(gelu)(x), onnxsmith.tensor(x), read("m.onnx")(x))
"""
#: Modules of ours that may be read as they are: they import next to nothing.
LIGHT = (
    "onnxsmith.types",
    "onnxsmith.errors",
    "onnxsmith.source",
    "onnxsmith.diagnostics",
    "onnxsmith.claims",
    "onnxsmith.opset",
    "onnxsmith.training.schedules",  # a class that two packages share
)


def modules_read(program: str, folder: Path) -> dict[str, str]:
    """The modules that mypy parses for a program, without a cache: name -> file."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    options = ["--verbose", "--config-file=", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    found = re.findall(r"^LOG:\s+Parsing (.*) \(([\w.]+)\)$", done.stderr, re.MULTILINE)
    assert found, "mypy's log looks different now: " + done.stderr[:2000]
    return {module: path for path, module in found}


def test_stubs_and_little_else(tmp_path: Path) -> None:
    read = modules_read(PROGRAM, tmp_path)
    roots = {module.partition(".")[0] for module in read}
    assert {"numpy", "onnx", "onnxsmith"} <= roots
    assert not roots & {"torch", "onnx_ir", "onnxscript", "onnxruntime", "sympy"}
    assert not [module for module in read if module.startswith("onnx.reference")]
    ours = {module: path for module, path in read.items() if module.startswith("onnxsmith")}
    assert not [
        module for module, path in ours.items() if not path.endswith(".pyi") and not module.startswith(LIGHT)
    ]


def test_only_the_opsets_that_are_imported(tmp_path: Path) -> None:
    read = modules_read(PROGRAM, tmp_path)
    assert {module for module in read if re.fullmatch(r"onnxsmith\.opset\w*\d+", module)} == {
        "onnxsmith.opset21"
    }
    versions = [int(found[1]) for module in read if (found := re.search(r"_stubs\.v(\d+)$", module))]
    assert max(versions) == 21
    assert not [module for module in read if "_stubs.ai_onnx" in module or "_stubs.com_" in module]
