"""Each part of the passes can be the first that a process imports: none closes a ring."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARTS = ("versions", "surgery", "rules", "optimizing", "verifying", "typing_values", "editor")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_imported_first(part: str) -> None:
    words = [sys.executable, "-c", f"import onnxsmith.passes.{part}"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
