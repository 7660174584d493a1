"""Where something stands in the user's source: spans in real file coordinates.

Knows files, lines, columns and Python frames; knows nothing of tensors, operators or how a message is rendered.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from types import CodeType, FrameType

#: Frames whose file starts with this are ours and never shown to a user.
PACKAGE_DIRECTORY = os.path.dirname(os.path.abspath(__file__)) + os.sep

_POSITIONS_LIMIT = 1024
# id(code) -> (code, positions). The code object is kept alive by the entry, so its id cannot be reused while
# it is here. Keyed by id because hashing a code object hashes its constants and bytecode.
_positions_cache: dict[int, tuple[CodeType, list[tuple[int | None, int | None, int | None, int | None]]]] = {}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source text: 1-based lines, 0-based columns in UTF-8 bytes as the interpreter counts them, end exclusive.

    >>> str(Span("model.py", 3, 4, 3, 9, "encode"))
    'model.py:3:5'
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = "<module>"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package."""
    return frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY)


def caller_frame() -> FrameType | None:
    """The innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    return frame


def caller_span() -> Span | None:
    """The expression of the user's that is being evaluated now, or None when no user code is on the stack."""
    frame = caller_frame()
    return None if frame is None else frame_span(frame)


def frame_span(frame: FrameType) -> Span:
    """The expression that `frame` is evaluating."""
    code = frame.f_code
    entry = _positions_cache.get(id(code))
    if entry is None:
        if len(_positions_cache) >= _POSITIONS_LIMIT:
            _positions_cache.clear()
        entry = _positions_cache[id(code)] = (code, list(code.co_positions()))
    index = frame.f_lasti // 2
    positions = entry[1]
    line, end_line, column, end_column = positions[index] if 0 <= index < len(positions) else (None,) * 4
    line = frame.f_lineno if line is None else line
    if column is None or end_column is None:  # python -X no_debug_ranges
        return Span(code.co_filename, line, 0, line, 0, code.co_name)
    return Span(code.co_filename, line, column, end_line or line, end_column, code.co_name)
