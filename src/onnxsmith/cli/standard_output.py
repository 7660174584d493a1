"""Writing to standard output, which may be full, closed, or a pipe that nobody reads any more.

It is for results alone: what a user's file prints while a command runs it goes to standard error.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Generator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TextIO

from onnxsmith.context import setting


class LostOutputError(Exception):
    """The output of a command cannot be written; a closed pipe is a `BrokenPipeError` instead."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Standard output as it was before a command began; None where it was closed before us."""

    stream: TextIO | None


_KEPT: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def for_results() -> Generator[None]:
    """Keep standard output for results inside the block; what a user's code prints there goes to standard error."""
    # Where standard error was closed before us, what is printed is lost, but printing works.
    elsewhere = contextlib.redirect_stdout(sys.stderr or io.StringIO())
    with setting(_KEPT, _Kept(sys.stdout)), elsewhere:
        yield


def results() -> TextIO | None:
    """The stream that results go to; None where it was closed before us."""
    kept = _KEPT.get()
    return sys.stdout if kept is None else kept.stream


@contextlib.contextmanager
def writing() -> Generator[None]:
    """Around everything that goes to standard output: what the system refuses there is told from other mistakes."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LostOutputError(f"cannot write to standard output: {error.strerror or error}") from None


def say(text: str) -> None:
    """Print a text."""
    stream = results()
    if stream is not None:
        with writing():
            print(text, file=stream)


def flush() -> None:
    """Write what is still held back."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None where it was closed before us
        with writing():
            sys.stdout.flush()


def give_up() -> None:
    """Drop what is still held back: nothing more can be written, and Python would try to when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
