"""A temporary file beside the place that it is renamed to. The next writer removes one that a killed process left.

A writer holds a lock on its file, which ends with its process. A file that can be locked has no writer any more.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

_MARK = "onnxsmith-"
_ENDING = ".tmp"


@contextlib.contextmanager
def temporary_file(place: Path) -> Generator[Path]:
    """A new, empty file beside `place`; it is removed when the block ends, unless it was renamed there."""
    remove_orphans(place.parent, _prefix(place))
    handle, temporary = _locked(place)
    try:
        yield temporary
    finally:
        if handle is not None:
            os.close(handle)
        temporary.unlink(missing_ok=True)


def _locked(place: Path) -> tuple[int | None, Path]:
    while True:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=_prefix(place), suffix=_ENDING)
        if os.name == "nt":  # where a file that is open cannot be renamed
            os.close(handle)
            return None, Path(name)
        _lock(handle)
        if os.path.exists(name):
            return handle, Path(name)
        os.close(handle)  # another writer took it for an orphan, before it was locked


def _prefix(place: Path) -> str:
    return f".{place.name}.{_MARK}"


def is_temporary(name: str) -> bool:
    """True for the name of a file that a writer has, or has left."""
    return name.startswith(".") and f".{_MARK}" in name and name.endswith(_ENDING)


def remove_orphans(folder: Path, prefix: str) -> None:
    """Remove what killed writers left in a folder, of files whose temporary names begin so."""
    with contextlib.suppress(OSError):  # a folder that cannot be listed, a file that is somebody else's
        for name in os.listdir(folder):
            if name.startswith(prefix) and _MARK in name and name.endswith(_ENDING):
                _remove_orphan(folder / name)


def _remove_orphan(file: Path) -> None:
    handle = os.open(file, os.O_RDWR)
    try:
        if _lock(handle):
            file.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file until it is closed; False where another process has, or where no locks are to be had."""
    try:
        import fcntl  # not on every platform
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
