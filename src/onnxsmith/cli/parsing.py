"""The parser of the command line, made of the table of commands. It imports nothing that commands work with."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

from onnxsmith.cli.declaration import add_arguments
from onnxsmith.cli.declared import COMMANDS

_UNRECOGNISED = "unrecognized arguments: "
_EPILOG = """\
exit codes: 0 good, 1 findings or an error, 2 wrong usage, 130 interrupted
a file called - is standard input, -o - is standard output, except for pages and pictures
colour is for terminals only; NO_COLOR turns it off
"""


class WrongWordsError(Exception):
    """Arguments that argparse does not understand; `program` is the command that got them."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.program = program


class Parser(argparse.ArgumentParser):
    """Leaves it to the caller to say what is wrong."""

    #: The parser of the command that is used, which knows its options.
    command: Parser | None = None

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would end the program with."""
        shown = self
        if self.command is not None and message.startswith(_UNRECOGNISED):
            shown = self.command
            message += shown.meant_by(message.removeprefix(_UNRECOGNISED).split()[0])
        shown.print_usage(sys.stderr)
        raise WrongWordsError(message, shown.prog)

    def meant_by(self, word: str) -> str:
        """The meaning of a word that the command does not take, to be read behind it; empty where there is none."""
        options = [option for action in self._actions for option in action.option_strings]
        if not word.startswith("-") and "--against" in options:
            return f"; the other one is --against {word}"
        from onnxsmith.diagnostics import did_you_mean  # loads ast and inspect; --help does not

        meant = did_you_mean(word, options)
        return "" if meant is None else f"; {meant}"


def make_parser(words: Sequence[str]) -> Parser:
    """The parser; only the command that is used adds its own arguments. A first word that is no command is refused."""
    parser = Parser(
        prog="onnxsmith",
        description="Write, run, read and ship ONNX from Python.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        parser.error(_no_command(words[0]))
    used = next((word for word in words if word in COMMANDS), None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    # Where the command is known, the others need no parser: making them all takes as long as all else here.
    known = COMMANDS if used is None or used != words[0] else {used: COMMANDS[used]}
    for name, declared in known.items():
        command = commands.add_parser(
            name,
            help=declared.summary,
            description=declared.summary[:1].upper() + declared.summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == used:
            add_arguments(command, declared)
            parser.command = command
    return parser


def check_command(words: Sequence[str]) -> None:
    """Raise ValueError where the command line does not understand the words; nothing is run.

    >>> check_command(["info", "model.onnx"])
    >>> check_command(["info", "model.onnx", "--colour"])
    Traceback (most recent call last):
    ValueError: unrecognized arguments: --colour
    """
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            make_parser(words).parse_args(words)
    except WrongWordsError as wrong:
        raise ValueError(str(wrong)) from None
    except SystemExit:  # argparse has shown its help
        pass


def _no_command(word: str) -> str:
    from onnxsmith.diagnostics import did_you_mean  # loads ast and inspect; --help does not

    hint = did_you_mean(word, COMMANDS) or f"the commands are {', '.join(COMMANDS)}"
    return f"there is no command {word!r}; {hint}"


def _version() -> str:
    import onnxsmith  # the package around us: whole only now

    return f"onnxsmith {onnxsmith.__version__}"
