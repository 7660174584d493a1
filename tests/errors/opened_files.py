"""A program that does all that can be done with a stranger's models, and tells which files it opened on the way.

Run as `python -m tests.errors.opened_files FOLDER SENTINEL`: reads `*.onnx` in FOLDER, prints to stderr what anybody
would see, and to stdout as JSON each opened path that contains SENTINEL, with the model and the operation.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import onnxsmith
from onnxsmith.cli import main
from onnxsmith.errors import OnnxsmithError

FEEDS = {"FLOAT": np.zeros((3, 5), np.float32), "BOOL": np.array(True)}


def run(model: onnxsmith.Model) -> object:
    """Run on shapes that do not fit."""
    return model(*[FEEDS.get(repr(port.type).partition("[")[0], FEEDS["FLOAT"]) for port in model.inputs])


def rebuilt(path: Path, folder: str) -> object:
    """The model of the decompiled module, run."""
    module = onnxsmith.decompile_to(path, folder, overwrite=True)
    namespace: dict[str, Any] = {"__file__": str(module), "__name__": "rebuilt"}
    exec(compile(module.read_text(encoding="utf-8"), str(module), "exec"), namespace)
    return run(namespace["model"])


def command(*words: object) -> None:
    """A command, as it would be typed."""
    main([str(each) for each in words])


OPERATIONS: dict[str, Callable[[Path, str], object]] = {
    "repr": lambda path, folder: sys.stderr.write(repr(onnxsmith.load(path))),
    "print": lambda path, folder: sys.stderr.write(str(onnxsmith.load(path))),
    "html": lambda path, folder: onnxsmith.load(path)._repr_mimebundle_(),
    "run": lambda path, folder: run(onnxsmith.load(path)),
    "check": lambda path, folder: onnxsmith.load(path).check(),
    "save": lambda path, folder: onnxsmith.load(path).save(Path(folder, "saved.onnx"), external_data=True),
    "from_proto": lambda path, folder: run(
        onnxsmith.Model.from_proto(onnx.load(path, load_external_data=False))
    ),
    "print proto": lambda path, folder: sys.stderr.write(
        str(onnxsmith.Model.from_proto(onnx.load(path, load_external_data=False)))
    ),
    "decompile": lambda path, folder: sys.stderr.write(onnxsmith.decompile(path)),
    "decompile proto": lambda path, folder: onnxsmith.decompile(onnx.load(path, load_external_data=False)),
    "rebuilt": rebuilt,
    "info": lambda path, folder: command("info", path, "--weights"),
    "check command": lambda path, folder: command("check", path, "--runtime"),
    "run command": lambda path, folder: command("run", path, "--random", "--dim", "N=3"),
    "decompile command": lambda path, folder: command("decompile", path, "-o", "-"),
}


def main_program(models: Path, sentinel: str) -> None:
    """All operations on all models."""
    opened: list[tuple[str, str, str]] = []
    now = ["", ""]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and sentinel in os.fsdecode(
            arguments[0] if isinstance(arguments[0], str | bytes) else b""
        ):
            opened.append((*now, os.fsdecode(arguments[0])))  # type: ignore[arg-type]

    sys.addaudithook(watch)
    warnings.simplefilter("always")
    for path in sorted(models.glob("*.onnx")):
        for name, operation in OPERATIONS.items():
            now[:] = path.stem, name
            said = io.StringIO()
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
                try:
                    operation(path, folder)
                except OnnxsmithError as error:
                    sys.stderr.write(str(error))
            sys.stderr.write(said.getvalue())
    json.dump(opened, sys.stdout)


if __name__ == "__main__":
    main_program(Path(sys.argv[1]), sys.argv[2])
