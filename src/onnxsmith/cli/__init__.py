"""The command line: `onnxsmith build`, `run`, `info`, `check`, `decompile`, `extract`, `explain` and others.

Takes the words apart and hands them to the command's module, which is imported only then: `onnxsmith --help` and
`onnxsmith COMMAND --help` import nothing heavy.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnxsmith.cli.declared import COMMANDS as COMMANDS
from onnxsmith.cli.exit_codes import USAGE
from onnxsmith.cli.parsing import WrongWordsError, make_parser

if TYPE_CHECKING:
    from onnxsmith.cli.outcome import CommandModule


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    launcher = sys._getframe(1).f_code.co_filename  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack
    try:
        parser = make_parser(words)
        options = parser.parse_args(words)
        if options.command is None:
            parser.error("say what to do: " + ", ".join(COMMANDS))
    except WrongWordsError as wrong:
        if "--json" in words:
            from onnxsmith.cli.report import usage_as_json  # needs the errors; --help does not

            print(usage_as_json(str(wrong)))
        print(f"{wrong.program}: error: {wrong}", file=sys.stderr)
        return USAGE
    except SystemExit as stop:  # argparse has shown its help
        return int(stop.code or 0)
    from onnxsmith.cli.outcome import run_command  # what follows needs the errors; --help does not

    return run_command(command_module(options.command), options, launcher)


def command_module(name: str) -> CommandModule:
    """The module of a command; what it needs is imported with it."""
    return importlib.import_module(f"onnxsmith.cli.{name.replace('-', '_')}")  # pyright: ignore[reportReturnType]  # each has `run`
