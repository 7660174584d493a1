"""Help of errors in the words of a shell."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_a_folder_that_is_not_there(run: Run, program: Path) -> None:
    seen = run("build", "net.py:forward", "-o", "nix/net.onnx")
    assert "mkdir -p 'nix'" in seen.err
    assert "os.makedirs" not in seen.err


def test_a_file_that_is_not_ours(run: Run, program: Path, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_text("mine")
    seen = run("build", "net.py:forward", "-o", "net.onnx")
    assert "--force to replace it" in seen.err
    assert "overwrite=True" not in seen.err
