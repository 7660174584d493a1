"""Colour and progress: what only a person at a terminal wants to see."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Generator
from typing import Literal, TextIO

Style = Literal["bold", "red", "green", "blue", "dim"]
_CODES: dict[Style, str] = {"bold": "1", "red": "1;31", "green": "32", "blue": "1;34", "dim": "2"}


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user has not asked for plain text (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def styled(text: str, style: Style, stream: TextIO) -> str:
    """Text in a style, or as it is where colours are not wanted."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if wants_colour(stream) else text


_GUTTER = re.compile(r"^( *\d* (?:\||-->|:::|=) ?)(.*)$")
_MARKS = re.compile(r"^(?P<space>\s*)(?P<marks>[\^\-][\^\- ]*[\^\-]|[\^\-])(?P<words>.*)$")


def styled_error(text: str, stream: TextIO) -> str:
    """The text of an error with its parts in colour: the summaries, the gutter, the marks."""
    if not wants_colour(stream):
        return text
    lines: list[str] = []
    is_summary = True
    for line in text.splitlines():
        gutter = _GUTTER.match(line)
        if not line:
            is_summary = True
        elif gutter is not None:
            is_summary = False
            line = styled(gutter[1], "blue", stream) + _styled_marks(gutter, stream)
        elif is_summary:
            line = styled(line, "bold", stream)
        lines.append(line)
    return "\n".join(lines)


def _styled_marks(gutter: re.Match[str], stream: TextIO) -> str:
    marks = _MARKS.match(gutter[2]) if not gutter[1].strip(" |") else None
    if marks is None:
        return gutter[2]
    style: Style = "red" if "^" in marks["marks"] else "blue"
    return marks["space"] + styled(marks["marks"] + marks["words"], style, stream)


#: What is done sooner than this needs no word.
_PATIENCE_SECONDS = 0.5


@contextlib.contextmanager
def progress(doing: str) -> Generator[None]:
    """Say on a terminal what takes its time, and take the word away when it is done."""
    stream = sys.stderr
    if not stream.isatty():
        yield
        return
    begun = time.monotonic()
    stream.write(f"\r{doing} …")
    stream.flush()
    try:
        yield
    finally:
        stream.write("\r\x1b[K")
        taken = time.monotonic() - begun
        if taken > _PATIENCE_SECONDS:
            stream.write(styled(f"{doing}: {taken:.1f} s\n", "dim", stream))
        stream.flush()


@contextlib.contextmanager
def counted(doing: str) -> Generator[Callable[[int, int], None]]:
    """As `progress`, for work in steps: gives what is told how many are done, and how many there are."""
    stream = sys.stderr
    last = 0.0

    def tell(done: int, whole: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > _BETWEEN_SECONDS:
            last = now
            stream.write(f"\r{doing} … {done} of {whole}")
            stream.flush()

    with progress(doing):
        yield tell if stream.isatty() else lambda done, whole: None


#: Steps that follow each other faster are not told one by one.
_BETWEEN_SECONDS = 0.1
