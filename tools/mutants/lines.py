"""A plugin of pytest: writes which lines of the package the tests of a run execute.

A function that has brought no new line in its last calls is traced no longer: so tracing takes half as long again as
the tests, where tracing every call takes several times as long. What is missed so are rare branches of busy functions.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

#: Where the lines are written to, and the folder of the package.
OUT, PACKAGE = "MUTANT_LINES", os.path.join("src", "onnxsmith", "")
#: After how many calls without a new line a function is traced no longer.
_QUIET_CALLS = 100


class _Code:
    """What was executed of a code object."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.is_ours = PACKAGE in code.co_filename
        self.lines: set[int] = set()
        self.known = 0
        self.quiet_calls = 0

    def note(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines.add(frame.f_lineno)
        return self.note


_seen: dict[int, _Code] = {}


def _note(frame: FrameType, event: str, argument: object) -> Any:
    code = frame.f_code
    # By identity: the hash of a code object reads all of it.
    found = _seen.get(id(code))
    if found is None:
        found = _seen[id(code)] = _Code(code)
    if not found.is_ours or found.quiet_calls > _QUIET_CALLS:
        return None
    found.quiet_calls = found.quiet_calls + 1 if len(found.lines) == found.known else 0
    found.known = len(found.lines)
    return found.note


def pytest_collection_finish() -> None:
    """Begin after collection: what importing executes says nothing about tests."""
    threading.settrace(_note)
    sys.settrace(_note)


def pytest_unconfigure() -> None:
    """Write the lines by file."""
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]  # as None it is documented
    found: dict[str, set[int]] = {}
    for each in _seen.values():
        if each.is_ours:
            file = f"{PACKAGE}{each.code.co_filename.rpartition(PACKAGE)[2]}"
            found.setdefault(file, set()).update(each.lines)
    Path(os.environ[OUT]).write_text(json.dumps({file: sorted(lines) for file, lines in found.items()}))
