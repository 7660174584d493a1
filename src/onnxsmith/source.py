"""Where something stands in the user's source: spans in real file coordinates.

Knows files, lines, columns and Python frames; knows nothing of tensors, operators or how a message is rendered.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType

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


#: Set while we act for a statement that has no code of its own to point at, such as `x += y` in a staged function.
STATEMENT: ContextVar[Span | None] = ContextVar("onnxsmith_statement", default=None)


def caller_span() -> Span | None:
    """The expression of the user's that is being evaluated now, or None when no user code is on the stack."""
    statement = STATEMENT.get()
    if statement is not None:
        return statement
    frame = caller_frame()
    return None if frame is None else position_span(frame.f_code, frame.f_lasti, frame.f_lineno)


def traceback_span(traceback: TracebackType | None) -> Span | None:
    """The innermost expression of the user's that an exception passed through on its way up."""
    found: TracebackType | None = None
    while traceback is not None:
        if not is_ours(traceback.tb_frame):
            found = traceback
        traceback = traceback.tb_next
    return None if found is None else position_span(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)


def position_span(code: CodeType, last_instruction: int, line_number: int) -> Span:
    """The expression that an instruction of a code object belongs to."""
    entry = _positions_cache.get(id(code))
    if entry is None:
        if len(_positions_cache) >= _POSITIONS_LIMIT:
            _positions_cache.clear()
        entry = _positions_cache[id(code)] = (code, list(code.co_positions()))
    index = last_instruction // 2
    positions = entry[1]
    line, end_line, column, end_column = positions[index] if 0 <= index < len(positions) else (None,) * 4
    line = line_number if line is None else line
    if column is None or end_column is None:  # python -X no_debug_ranges
        return Span(code.co_filename, line, 0, line, 0, code.co_name)
    return Span(code.co_filename, line, column, end_line or line, end_column, code.co_name)


def text_of(span: Span) -> str | None:
    """The source text of a span, or None when the file cannot be read."""
    lines = [linecache.getline(span.file, number) for number in range(span.line, span.end_line + 1)]
    if not all(lines):
        return None
    lines[-1] = lines[-1].encode()[: span.end_column].decode(errors="ignore")
    lines[0] = lines[0].encode()[span.column :].decode(errors="ignore")
    return "".join(lines)


def argument_span(call: Span, argument: int | str) -> Span | None:
    """The span of one argument, by position or keyword, of the call (or operands of the operator) at `call`."""
    text = text_of(call)
    if not text:
        return None
    try:
        expression = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    node = _argument(expression, argument)
    if node is None:
        return None

    def column(line: int, offset: int) -> int:
        # The text starts in the middle of its first line, one column after the bracket put before it.
        return call.column + offset - 1 if line == 1 else offset

    return Span(
        call.file,
        call.line + node.lineno - 1,
        column(node.lineno, node.col_offset),
        call.line + (node.end_lineno or node.lineno) - 1,
        column(node.end_lineno or node.lineno, node.end_col_offset or 0),
        call.function,
    )


def _argument(expression: ast.expr, argument: int | str) -> ast.expr | ast.keyword | None:
    match expression:
        case ast.Call(args=args, keywords=keywords):
            if isinstance(argument, str):
                return next((each for each in keywords if each.arg == argument), None)
            has_star = any(isinstance(each, ast.Starred) for each in args)
            return args[argument] if argument < len(args) and not has_star else None
        case ast.BinOp(left=left, right=right):
            return {0: left, 1: right}.get(argument) if isinstance(argument, int) else None
        case ast.Compare(left=left, comparators=[right]):
            return {0: left, 1: right}.get(argument) if isinstance(argument, int) else None
        case _:
            return None
