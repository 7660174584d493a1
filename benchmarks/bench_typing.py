"""What mypy takes to check a small program without a cache, beside one that uses numpy alone."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most

NAME = "typing"
DESCRIPTION = "CPU time of mypy on a small program, without a cache"

_ROUNDS = 3
_NUMPY = """\
import numpy as np


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5


print(gelu(np.ones((2, 4), dtype=np.float32)))
"""
_OURS = """\
import numpy as np

from onnxsmith import FLOAT, load, script, trace
from onnxsmith import opset21 as op


@script
def gelu(x: FLOAT) -> FLOAT:
    return x * 0.5 * (op.Erf(x / 1.4142135) + 1.0)


model = trace(lambda x: op.Relu(x) * 2, FLOAT)
print(gelu(np.ones((2, 4), dtype=np.float32)), model, load("m.onnx").inputs)
"""


def run(context: Context) -> list[Row]:
    """One row: a program of ours beside one of numpy."""
    with tempfile.TemporaryDirectory(prefix="onnxsmith-") as folder:
        times: dict[str, list[float]] = {_OURS: [], _NUMPY: []}
        for turn in range(_ROUNDS):
            for program, found in times.items():
                found.append(_seconds(program, Path(folder, str(turn))))
    ours, numpy = (statistics.median(found) for found in times.values())
    return [Row("a script, a trace, a model", ours, "s", "numpy alone", numpy, ratio_at_most(2))]


def _seconds(program: str, folder: Path) -> float:
    """CPU seconds of one run, with nothing kept from another."""
    folder.mkdir(exist_ok=True)
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={os.devnull}", str(file)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"mypy failed: {done.stdout}{done.stderr}")
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
