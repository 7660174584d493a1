"""Colour and progress: what only a person at a terminal wants to see."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TextIO

from onnxsmith.context import setting
from onnxsmith.errors.colours import Style, coloured, coloured_error


def is_terminal(stream: TextIO | None) -> bool:
    """True if somebody looks at a stream; one that was closed before us is None."""
    return stream is not None and stream.isatty()


def wants_colour(stream: TextIO | None) -> bool:
    """True if a stream is a terminal whose user has not asked for plain text (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def styled(text: str, style: Style, stream: TextIO | None) -> str:
    """Text in a style, or as it is where colours are not wanted."""
    return coloured(text, style) if wants_colour(stream) else text


def styled_error(text: str, stream: TextIO | None) -> str:
    """The text of an error with its parts in colour: the summaries, the gutter, the marks."""
    return coloured_error(text) if wants_colour(stream) else text


#: Progress is not told: `--quiet`.
_IS_SILENT: ContextVar[bool] = ContextVar("is_silent", default=False)


def silence() -> AbstractContextManager[object]:
    """Tell no progress inside the block."""
    return setting(_IS_SILENT, True)


def _shows_progress() -> bool:
    return is_terminal(sys.stderr) and not _IS_SILENT.get()


#: What is done sooner than this needs no word.
_PATIENCE_SECONDS = 0.5


@contextlib.contextmanager
def progress(doing: str) -> Generator[None]:
    """Show slow work on a terminal, and clear the line when it is done."""
    stream = sys.stderr
    if not _shows_progress():
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
        yield tell if _shows_progress() else lambda done, whole: None


#: Steps that follow each other faster are not told one by one.
_BETWEEN_SECONDS = 0.1
