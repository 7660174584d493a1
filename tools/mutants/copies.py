"""Copies of the repository in which a file can be broken without harm, and runs of Python there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

#: What pytest answers when all tests passed, and when none was selected.
PASSED, NOTHING_RUN = 0, 5
TIMED_OUT = 124
#: A mutant that asks for more memory than this is stopped, rather than the machine.
_MEMORY_KB = 12_000_000


def _files(root: Path) -> list[str]:
    """The files that git knows; of a copy, which is no repository, all but byte code."""
    if not (root / ".git").exists():
        found = (each.relative_to(root) for each in root.rglob("*") if each.is_file())
        return [str(each) for each in found if "__pycache__" not in each.parts]
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()


class Copy:
    """A copy of all files that git knows. Its byte code is kept, so that only a changed file is compiled."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        for name in _files(root):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, folder / name)
        # Byte code is found stale by whole seconds of the source's time: each write gets a second of its own.
        self._second = 2_000_000_000

    def write(self, file: str, content: bytes) -> None:
        """Replace a file."""
        path = self.folder / file
        path.write_bytes(content)
        self._second += 1
        os.utime(path, (self._second, self._second))

    def pytest(
        self, arguments: Sequence[str], seconds: float, environment: dict[str, str] | None = None
    ) -> int:
        """The exit status of pytest in the copy; `TIMED_OUT` where it takes longer."""
        return self.python(["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], seconds, environment)

    def python(
        self,
        arguments: Sequence[str],
        seconds: float,
        environment: dict[str, str] | None = None,
        output: IO[bytes] | int = subprocess.DEVNULL,
    ) -> int:
        """The exit status of Python in the copy; `TIMED_OUT` where it takes longer."""
        paths = os.pathsep.join(str(self.folder / each) for each in ("src", "."))
        process = subprocess.Popen(
            ["bash", "-c", f'ulimit -d {_MEMORY_KB}; exec "$0" "$@"', sys.executable, *arguments],
            cwd=self.folder,
            # Laws draw the same examples each time: a survivor is one that this very run does not see.
            env={**os.environ, "PYTHONPATH": paths, "CI": "true", **(environment or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return TIMED_OUT
