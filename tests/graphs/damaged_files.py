"""A program that tries all operations on files that were damaged, and tells what came out that is no error of ours.

Run as `python -m tests.graphs.damaged_files FOLDER`: reads `*.onnx` there, prints a JSON list of what was raised raw.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import onnxsmith
from onnxsmith.cli import main
from onnxsmith.errors import OnnxsmithError


def run(path: Path) -> object:
    """On inputs as the first model of the family takes them."""
    model = onnxsmith.load(path)
    feeds = {"x": np.ones((3, 2), np.float32), "b": np.array(True)}
    return model(**{port.name: feeds.get(port.name, feeds["x"]) for port in model.inputs})


def save(path: Path) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return onnxsmith.load(path).save(Path(folder, "m.onnx"), external_data=True)


OPERATIONS: dict[str, Callable[[Path], object]] = {
    "repr": lambda path: repr(onnxsmith.load(path)),
    "print": lambda path: str(onnxsmith.load(path)),
    "check": lambda path: onnxsmith.load(path).check(),
    "save": save,
    "run": run,
    "decompile": onnxsmith.decompile,
    "group": lambda path: onnxsmith.decompile(path, group=True),
    "info command": lambda path: main(["info", str(path), "--weights"]),
    "check command": lambda path: main(["check", str(path)]),
    "run command": lambda path: main(["run", str(path), "--random", "--dim", "N=3"]),
    "decompile command": lambda path: main(["decompile", str(path), "-o", "-"]),
}


def main_program(folder: Path) -> None:
    """All operations on all files."""
    found: list[str] = []
    warnings.simplefilter("ignore")
    for path in sorted(folder.glob("*.onnx")):
        for name, operation in OPERATIONS.items():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                try:
                    operation(path)
                except OnnxsmithError:
                    pass
                except Exception as error:
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    ours = [
                        each
                        for each in traceback.extract_tb(error.__traceback__)
                        if "/src/onnxsmith/" in each.filename
                    ]
                    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
                    found.append(
                        f"{path.name} {name}: {type(error).__name__}: {str(error)[:150]} "
                        f"({place}, {Path(last.filename).name}:{last.lineno})"
                    )
    json.dump(found, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # what a damaged model left behind in a runtime is not our business


if __name__ == "__main__":
    main_program(Path(sys.argv[1]))
