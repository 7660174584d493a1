"""What the command line costs before it does anything: help, and a look at a small file, each in a new process."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most, ratio_at_most

NAME = "command_line"
DESCRIPTION = "CPU time of help above Python's own start, and of info beside importing onnx"

_ROUNDS = 10
_HELP_BUDGET_MS = 60
_INFO_BUDGET = 1.3

# A small file as onnxsmith writes it, and the same without the types of its values inside.
_MAKE = """
import sys
import numpy as np
import onnx
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
weight, bias = np.ones((4, 3), np.float32), np.ones(3, np.float32)
proto = trace(lambda x: op.Softmax(x @ weight + bias), FLOAT["N", 4]).proto
onnx.save(proto, sys.argv[1])
del proto.graph.value_info[:]
onnx.save(proto, sys.argv[2])
"""


def run(context: Context) -> list[Row]:
    """Rows of help, of one command and of all, and of info on both files."""
    with tempfile.TemporaryDirectory() as folder:
        small, bare = Path(folder, "small.onnx"), Path(folder, "bare.onnx")
        subprocess.run([sys.executable, "-c", _MAKE, small, bare], check=True)
        python = [sys.executable, "-P"]
        ours = [*python, "-m", "onnxsmith"]
        commands: dict[str, list[str]] = {
            "start": [*python, "-c", "pass"],
            "import onnx": [*python, "-c", "import onnx"],
            "--help": [*ours, "--help"],
            "info --help": [*ours, "info", "--help"],
            "export --help": [*ours, "export", "--help"],
            "info": [*ours, "info", str(small)],
            "info, types not declared": [*ours, "info", str(bare)],
        }
        times = _medians(commands, Path(folder, "bytecode"))
    above = {name: times[name] - times["start"] for name in commands if name.endswith("--help")}
    rows = [
        Row(f"onnxsmith {name}, above python", took, "ms", bar=at_most(_HELP_BUDGET_MS))
        for name, took in above.items()
    ]
    rows += [
        Row(
            f"onnxsmith {name}",
            times[name],
            "ms",
            "import onnx",
            times["import onnx"],
            ratio_at_most(_INFO_BUDGET) if name == "info" else None,
            "" if name == "info" else "inference asks onnx for its schemas, which it makes then",
        )
        for name in ("info", "info, types not declared")
    ]
    return rows


def _medians(commands: dict[str, list[str]], bytecode: Path) -> dict[str, float]:
    """Median CPU milliseconds of each command; the rounds go through all in turn."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(bytecode)}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        _cpu_milliseconds(command, environment)  # not counted: writes the bytecode
    for _ in range(_ROUNDS):
        for name, command in commands.items():
            times[name].append(_cpu_milliseconds(command, environment))
    return {name: statistics.median(found) for name, found in times.items()}


def _cpu_milliseconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
