"""The command line: `onnxsmith build`, `run`, `info`, `check`, `decompile`, `extract`, `explain` and others.

Knows which commands there are and what an exit code means; what a command does stands in its own module, which is
imported when the command is used, so that `onnxsmith --help` imports nothing heavy.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from onnxsmith.cli.exit_codes import USAGE


class Command(NamedTuple):
    """What a command does in a few words, and which of the conventions concern it."""

    summary: str
    #: Whether it takes several things at once; its JSON is then a list.
    takes_several: bool
    #: Whether `-` is a model from standard input.
    reads_stream: bool
    #: Whether `-o -` writes to standard output.
    writes_stream: bool
    #: Whether it writes files, and so has `--force`.
    writes_files: bool


#: The commands; each has a module of its name, with _ for -. Their conventions: docs/reference/command-line.md.
COMMANDS: dict[str, Command] = {
    "build": Command("make a model of a function in a Python file", False, False, True, True),
    "export": Command("make a model of a PyTorch module in a Python file", False, False, True, True),
    "run": Command("run a model on arrays, or on random inputs", False, True, False, True),
    "info": Command("show what is in a model", True, True, False, False),
    "check": Command("check a model, or all scripts of a Python file", True, True, False, False),
    "compare": Command("name the first node where two runs of models part", False, True, False, False),
    "decompile": Command("write a model as a Python module that gives it back", True, True, True, True),
    "convert": Command("convert a model to another opset version", False, True, True, True),
    "optimize": Command("make the same model with fewer nodes", False, True, True, True),
    "outline": Command(
        "make functions of what repeats in a model, or of its modules", False, True, True, True
    ),
    "extract": Command("cut a part out of a model, between some of its values", False, True, True, True),
    "join": Command(
        "make one model of several, each taking what the one before gives", False, True, True, True
    ),
    "rename": Command(
        "give values, inputs, outputs and nodes of a model other names", False, True, True, True
    ),
    "rewrite": Command("apply the rewrite rules of a Python file to a model", False, True, True, True),
    "set-shapes": Command("give dimensions and inputs of a model other sizes", False, True, True, True),
    "view": Command("show a model as a page to click through, or as a picture", False, True, False, True),
    "diff": Command("show what differs between two models", False, True, False, True),
    "profile": Command("show where the time goes when a model runs", False, True, False, True),
    "ops": Command("list operators, or show what one takes and gives", True, False, False, False),
    "explain": Command("show the page of an error code", True, False, False, False),
}

_EPILOG = """\
exit codes: 0 good, 1 findings or an error, 2 wrong usage, 130 interrupted
a file called - is standard input, -o - is standard output, except for pages and pictures
colour is for terminals only; NO_COLOR turns it off
"""


class _WrongWordsError(Exception):
    """What argparse does not understand; `program` is the command whose words they are."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.program = program


class _Parser(argparse.ArgumentParser):
    """Leaves it to `main` to say what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise _WrongWordsError(message, self.prog)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    launcher = sys._getframe(1).f_code.co_filename  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack
    try:
        parser = _make_parser(words)
        options = parser.parse_args(words)
        if options.command is None:
            parser.error("say what to do: " + ", ".join(COMMANDS))
    except _WrongWordsError as wrong:
        if "--json" in words:
            from onnxsmith.cli.report import usage_as_json  # needs the errors; --help does not

            print(usage_as_json(str(wrong)))
        print(f"{wrong.program}: error: {wrong}", file=sys.stderr)
        return USAGE
    except SystemExit as stop:  # argparse has shown its help
        return int(stop.code or 0)
    from onnxsmith.cli.outcome import run_command  # what follows needs the errors; --help does not

    return run_command(_module(options.command), options, launcher)


def check_words(words: Sequence[str]) -> None:
    """Raise ValueError where the command line does not understand the words; nothing is run.

    >>> check_words(["info", "model.onnx"])
    >>> check_words(["info", "model.onnx", "--colour"])
    Traceback (most recent call last):
    ValueError: unrecognized arguments: --colour
    """
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            _make_parser(words).parse_args(words)
    except _WrongWordsError as wrong:
        raise ValueError(str(wrong)) from None
    except SystemExit:  # argparse has shown its help
        pass


def _make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the command that is used adds its own arguments."""
    parser = _Parser(
        prog="onnxsmith",
        description="Write, run, read and ship ONNX from Python.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    used = next((word for word in words if word in COMMANDS), None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (summary, *_) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[:1].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == used:
            _module(name).add_arguments(command)
            command.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _module(name: str) -> Any:
    return importlib.import_module(f"onnxsmith.cli.{name.replace('-', '_')}")


def _version() -> str:
    import onnxsmith  # the package around us: whole only now

    return f"onnxsmith {onnxsmith.__version__}"
