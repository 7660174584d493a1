"""A plugin of pytest: writes which functions of the package the tests of a run call.

It notes calls, not lines: tracing calls takes half as long again as the tests, tracing lines several times as long.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

#: Where the calls are written to, and the folder of the package.
OUT, PACKAGE = "MUTANT_CALLS", os.path.join("src", "onnxsmith", "")

_called: dict[int, CodeType] = {}


def _note(frame: FrameType, event: str, argument: object) -> None:
    code = frame.f_code
    # By identity: the hash of a code object reads all of it.
    _called[id(code)] = code


def pytest_collection_finish() -> None:
    """Begin after collection: what importing calls says nothing about tests."""
    threading.settrace(_note)
    sys.settrace(_note)


def pytest_unconfigure() -> None:
    """Write the first lines of the functions by file."""
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]  # as None it is documented
    found: dict[str, list[int]] = {}
    for code in _called.values():
        _, is_ours, rest = code.co_filename.rpartition(PACKAGE)
        if is_ours:
            found.setdefault(f"{PACKAGE}{rest}", []).append(code.co_firstlineno)
    Path(os.environ[OUT]).write_text(json.dumps(found))
