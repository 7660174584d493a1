"""pyright and mypy flag every line of the wrong programs that is marked so, no other line, and no right program."""

from __future__ import annotations

import collections
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RIGHT = sorted((HERE / "right").glob("*.py"))
WRONG = sorted((HERE / "wrong").glob("*.py"))
TENSOR_WITH_BRACKETS = re.compile(r"\b(?:BOOL|STRING|DOUBLE|B?FLOAT\w*|U?INT\d+|COMPLEX\d+)\[")

Lines = dict[tuple[str, int], list[str]]


def expected() -> set[tuple[str, int]]:
    """File and line of each mistake."""
    return {
        (file.relative_to(HERE).as_posix(), number)
        for file in WRONG
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if line.endswith("  # error")
    }


def check(found: Lines) -> None:
    """Compare what a checker found with what it should have found, and show the difference."""
    missed = sorted(expected() - set(found))
    extra = {place: found[place] for place in sorted(set(found) - expected())}
    assert not missed, "not flagged: " + "; ".join(f"{file}:{line}" for file, line in missed)
    assert not extra


def run_pyright(files: list[Path], folder: Path) -> Lines:
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--pythonpath",
        sys.executable,
        "--outputjson",
        *map(str, files),
    ]
    # In an empty folder, so that no configuration of this repository is found.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found: Lines = collections.defaultdict(list)
    report: dict[str, Any] = json.loads(done.stdout)
    for each in report["generalDiagnostics"]:
        if each["severity"] == "error":
            file = Path(each["file"]).relative_to(HERE).as_posix()
            found[file, each["range"]["start"]["line"] + 1].append(each["message"])
    assert report["summary"]["filesAnalyzed"] == len(files), done.stderr
    return found


def run_mypy(files: list[Path], folder: Path, *, plugin: bool) -> Lines:
    configuration = folder / "mypy.ini"
    plugins = "plugins = onnxsmith.mypy_plugin\n" if plugin else ""
    configuration.write_text(f"[mypy]\nstrict = True\n{plugins}", encoding="utf-8")
    options = [
        "--config-file",
        str(configuration),
        "--cache-dir",
        str(folder / "cache"),
        "--explicit-package-bases",
    ]
    names = [file.relative_to(HERE).as_posix() for file in files]
    command = [sys.executable, "-m", "mypy", *options, *names]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    found: Lines = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        match = re.match(r"(?P<file>\S+?):(?P<line>\d+): error: (?P<message>.*)", line)
        if match:
            found[match["file"].replace(os.sep, "/"), int(match["line"])].append(match["message"])
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return found


def test_there_are_enough_programs() -> None:
    assert len(RIGHT) >= 30
    assert len(WRONG) >= 15
    assert len(expected()) >= 250


def test_pyright(tmp_path: Path) -> None:
    check(run_pyright([*RIGHT, *WRONG], tmp_path))


def test_mypy(tmp_path: Path) -> None:
    check(run_mypy([*RIGHT, *WRONG], tmp_path, plugin=True))


def test_mypy_needs_its_plugin_for_brackets_only(tmp_path: Path) -> None:
    plain = [file for file in RIGHT if not TENSOR_WITH_BRACKETS.search(file.read_text(encoding="utf-8"))]
    assert len(plain) >= 10
    assert not run_mypy(plain, tmp_path, plugin=False)


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.stem)
def test_right_programs_run(program: Path) -> None:
    pytest.importorskip("onnxruntime")
    runpy.run_path(str(program))
