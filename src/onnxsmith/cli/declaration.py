"""Declarations of commands: arguments, conventions that concern a command, and values that shells complete.

Plain data that imports nothing of what commands work with: help and completion are made of it alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypedDict, Unpack

#: The values that a shell offers for a word: files of a kind, folders, or names that we know.
Completion = Literal[
    "model", "python", "program", "array", "page", "folder", "operators", "domains", "errors"
]


class Options(TypedDict, total=False):
    """The options of `argparse.ArgumentParser.add_argument` that declarations use."""

    action: str
    nargs: str
    default: object
    metavar: str
    type: Callable[[str], object]
    choices: Sequence[str]
    required: bool


class Argument(NamedTuple):
    """A word that can stand after a command: an option, or a positional argument."""

    names: tuple[str, ...]
    help: str
    completes: Completion | None
    options: Options


def argument(
    *names: str, help: str, completes: Completion | None = None, **options: Unpack[Options]
) -> Argument:
    """An argument: its names, its help, the values that a shell completes, and the options of argparse."""
    return Argument(names, help, completes, options)


def valued(
    name: str | tuple[str, ...],
    value: str,
    help: str,
    completes: Completion | None = None,
    **options: Unpack[Options],
) -> Argument:
    """An argument with a value, which help calls `value`."""
    names = (name,) if isinstance(name, str) else name
    return Argument(names, help, completes, {"metavar": value, **options})


def repeated(name: str, value: str, help: str, completes: Completion | None = None) -> Argument:
    """An option with a value that may be given several times."""
    return valued(name, value, help, completes, action="append", default=[])


def switch(name: str, help: str) -> Argument:
    """An option without a value."""
    return argument(name, help=help, action="store_true")


class Command(NamedTuple):
    """A command: its summary in a few words, its arguments, and which of the conventions concern it.

    The module of the same name, with `_` for `-`, has the function `run` that does the work.
    """

    summary: str
    #: Notes and examples, which help shows at its end.
    epilog: str
    arguments: tuple[Argument, ...]
    #: It takes several things at once; its JSON is then a list.
    takes_several: bool = False
    #: `-` is a model from standard input.
    reads_stream: bool = False
    #: `-o -` writes to standard output.
    writes_stream: bool = False
    #: It writes files, and so has `--force`.
    writes_files: bool = False


#: Every command has these.
SHARED: tuple[Argument, ...] = (
    switch("--json", "print JSON"),
    argument(
        *("-q", "--quiet"),
        help="print no result and no progress; errors are still printed",
        action="store_true",
    ),
)


def add_arguments(parser: argparse.ArgumentParser, command: Command) -> None:
    """Give a parser the arguments of a command and the shared ones."""
    parser.epilog = command.epilog
    for each in command.arguments:
        parser.add_argument(*each.names, help=each.help, **each.options)
    spoken = parser.add_mutually_exclusive_group()  # a document and no document
    for each in SHARED:
        spoken.add_argument(*each.names, help=each.help, **each.options)
