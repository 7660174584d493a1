"""The first pages run from an empty folder with the wheel, as they do for someone who just installed it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "tutorial").glob("*-*.md"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel holds, and nothing of the clone."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_every_kind_of_reader_has_a_page() -> None:
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"tutorial/{page.name}" not in home] == []
    assert len(PAGES) == 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs_from_an_empty_folder(page: Path, installed: Path, tmp_path: Path) -> None:
    program = (
        "import onnxsmith, sys; from pathlib import Path; sys.path.append(sys.argv[2]); from page_cells import run;"
        "assert onnxsmith.__file__.startswith(sys.argv[3]), onnxsmith.__file__;"
        "run(Path(sys.argv[1]), Path.cwd() / 'cells')"
    )
    (tmp_path / "cells").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(page), str(ROOT / "tools"), str(installed)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
