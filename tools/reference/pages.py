"""Writes all pages of the reference that are made, and runs the examples of the docstrings beside the build."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tools.reference import api_pages, operators

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path) -> None:
    """Write the pages below a folder, in the place of those of the last build."""
    for made in ("api", "operators"):
        shutil.rmtree(folder / made, ignore_errors=True)
    api_pages.write(folder)
    operators.write(folder)


def start_examples() -> subprocess.Popen[str]:
    """Start to run the examples of docstrings, in a process of their own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tools.reference.run_docstrings"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
