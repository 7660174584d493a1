"""Writing to standard output, which may be full, closed, or a pipe that nobody reads any more."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator


class LostOutputError(Exception):
    """The output of a command cannot be written; a closed pipe is a `BrokenPipeError` instead."""


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
    with writing():
        print(text)


def flush() -> None:
    """Write what is still held back."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None where it was closed before us
        with writing():
            sys.stdout.flush()


def give_up() -> None:
    """Drop what is still held back: nothing more can be written, and Python would try to when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
