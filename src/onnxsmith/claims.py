"""Places in source that a file claims: a model's metadata, the stack traces of a saved program.

Whoever wrote the file chose the words, so they name a place and open nothing. Source is read only for code that lives
in this process, and below a folder that the user names (`source_root`).
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import os
import re
import sys
from collections.abc import Generator, Iterator
from contextvars import ContextVar
from types import CodeType, FunctionType, ModuleType
from typing import Any

from onnxsmith.diagnostics import clipped, described_type, printable
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.source import Span, parse

#: A folder, for programs whose code one cannot change; the same as `source_root` around everything.
ROOT_VARIABLE = "ONNXSMITH_SOURCE_ROOT"

_root: ContextVar[str | None] = ContextVar("onnxsmith_source_root", default=None)

# Numbers that a file cannot have are no place, and Python refuses to read very long ones.
_STORED = re.compile(
    r"(?P<file>.+):(?P<line>\d{1,9}):(?P<column>\d{1,9})(?:-(?P<end_line>\d{1,9}):(?P<end_column>\d{1,9}))?"
)
_LONGEST = 4096
_LONGEST_SHOWN = 200


@contextlib.contextmanager
def source_root(folder: str | os.PathLike[str]) -> Generator[None]:
    """Where the source of models lies: in this block, errors show the lines that a loaded model says it was made from.

    Only Python files below `folder` are read, whatever the model names; a link that leads out of it is not followed.

    >>> from onnxsmith import source_root
    >>> with source_root("."):
    ...     pass  # load and run the model here
    """
    check_folder("source_root", folder)
    token = _root.set(os.path.realpath(folder))
    try:
        yield
    finally:
        _root.reset(token)


def check_folder(called: str, folder: str | os.PathLike[str]) -> None:
    """Refuse what is no folder that a user may name as a root."""
    if not isinstance(folder, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(
            f"{called} takes a folder, not {described_type(type(folder))}"
        ).locate_at_caller()
    if not os.path.isdir(folder):
        raise AttributeValueError(f"{called}: there is no folder {os.fspath(folder)!r}").locate_at_caller()


def claimed_span(text: str, claimed_by: str) -> Span | None:
    """The span that `claimed_by` holds as text, or None when it is not one.

    >>> claimed_span("model.py:3:5-3:10", "m.onnx")
    Span(file='model.py', line=3, column=4, end_line=3, end_column=9, function='', claimed_by='m.onnx')
    """
    match = _STORED.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    line, column = int(match["line"]), max(int(match["column"]) - 1, 0)
    has_end = match["end_line"] is not None
    end_line, end_column = (
        (int(match["end_line"]), max(int(match["end_column"]) - 1, 0)) if has_end else (line, column)
    )
    found = _below_root(match["file"])
    if found is not None:
        return Span(found, line, column, end_line, end_column, _function_at(found, line))
    shown = clipped(printable(match["file"]), _LONGEST_SHOWN)
    return Span(shown, line, column, end_line, end_column, "", claimed_by)


def _below_root(file: str) -> str | None:
    """The Python file below the user's root that is called so, or None."""
    root = _root.get() or os.environ.get(ROOT_VARIABLE)
    if not root or not file.isprintable() or not file.endswith(".py"):
        return None
    base = os.path.realpath(root)
    place = os.path.realpath(os.path.join(base, file))
    is_below = place.startswith(os.path.join(base, ""))
    return place if is_below and os.path.isfile(place) else None


def _function_at(file: str, line: int) -> str:
    """The name of the innermost function around a line, as far as the file can be read."""
    try:
        tree = parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not Python, or such that nobody wrote it
        return "<module>"
    found = "<module>"
    for node in ast.walk(tree):  # breadth first: inner functions come after outer ones
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and node.lineno <= line <= (node.end_lineno or node.lineno):
            found = node.name
    return found


def is_live(file: str, line: int) -> bool:
    """True if a line belongs to a function that this process has loaded, or typed in at a prompt or in a notebook."""
    held = linecache.cache.get(file)
    if held is not None and len(held) == 4 and held[1] is None:
        return True  # its text was given to Python, by a prompt or a notebook; there is no file to read
    return line in _live_lines(file)


# Asked for every node of a PyTorch program, of which thousands come from one file.
@functools.lru_cache(maxsize=256)
def _live_lines(file: str) -> frozenset[int]:
    """The lines of the functions of a loaded module; none when no module was loaded from that file."""
    loaded: list[object] = list(sys.modules.values())
    for module in loaded:
        # Not every entry is a module, and lazy ones import what they are asked for.
        names = vars(module) if isinstance(module, ModuleType) else {}
        if names.get("__file__") == file:
            return frozenset(line for code in _codes(names, file) for line in _lines(code))
    return frozenset()


def _codes(names: dict[str, Any], file: str) -> Iterator[CodeType]:
    """The code of the functions and methods that a module or class holds and that were written in `file`."""
    for value in list(names.values()):
        if isinstance(value, type):
            if value.__module__ == names.get("__name__", names.get("__module__")):
                yield from _codes(dict(vars(value)), file)
            continue
        function: Any = getattr(value, "__func__", value)  # of a static or class method
        while isinstance(function, FunctionType):  # a decorator may have put another one around it
            if function.__code__.co_filename == file:
                yield function.__code__
            function = getattr(function, "__wrapped__", None)


def _lines(code: CodeType) -> Iterator[int]:
    """The lines of a function, and of what is defined inside it."""
    yield from (number for _, _, number in code.co_lines() if number is not None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _lines(inner)
