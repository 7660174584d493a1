"""Copies of the repository in which a file can be broken without harm, and runs of pytest there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: What pytest answers when all tests passed, and when none was selected.
PASSED, NOTHING_RUN = 0, 5
TIMED_OUT = 124
#: A mutant that asks for more memory than this is stopped, rather than the machine.
_MEMORY_KB = 12_000_000


class Copy:
    """A copy of all files that git knows. Its byte code is kept, so that only a changed file is compiled."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in listed.splitlines():
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
        paths = os.pathsep.join(str(self.folder / each) for each in ("src", "."))
        command = f'ulimit -d {_MEMORY_KB}; exec "$0" -m pytest -q -p no:cacheprovider "$@"'
        process = subprocess.Popen(
            ["bash", "-c", command, sys.executable, *arguments],
            cwd=self.folder,
            # Laws draw the same examples each time: a survivor is one that this very run does not see.
            env={**os.environ, "PYTHONPATH": paths, "CI": "true", **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return TIMED_OUT
