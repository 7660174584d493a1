"""The output of a command: results on stdout as text or JSON, errors on stderr, or in the JSON.

The errors are the ones that Python code gets; here they come without a traceback.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.exit_codes import FINDINGS, GOOD
from onnxsmith.cli.standard_output import say
from onnxsmith.diagnostics import Label, hide_own_frames, printable
from onnxsmith.errors import OnnxsmithError
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library


class Usage(Exception):
    """The arguments make no sense together; exit code 2."""


@dataclass(frozen=True, slots=True)
class Report:
    """Where a command's words go."""

    #: The file that started us; nobody's mistake stands there.
    launcher: str
    as_json: bool
    #: Results are not printed; the exit code says how it went, and errors are said.
    is_quiet: bool = False

    def result(self, content: Any, text: str) -> None:
        """Print the result of a command."""
        if not self.is_quiet:
            say(_as_json(content) if self.as_json else text)

    def each(
        self,
        files: Sequence[str],
        work: Callable[[str], tuple[dict[str, Any], str]],
        *,
        is_output: bool = False,
    ) -> int:
        """Do something with several files: one that fails does not keep the others from their turn.

        `work` gives what is said of a file, for JSON and for people; `is_output` says that the text was asked for with
        `-o -`, and is printed even where results are not. The result is the exit code.
        """
        entries: list[dict[str, Any]] = []
        status = GOOD
        for file in files:
            try:
                content, text = work(file)
            except OnnxsmithError as error:
                status = FINDINGS
                entries.append({"file": file, "error": self.finding(error)})
                if not self.as_json:
                    self.findings([error])
                continue
            entries.append({"file": file, **content})
            if is_output or not (self.as_json or self.is_quiet):
                say(text if len(entries) == 1 or "\n" not in text else f"\n{text}")
        if self.as_json:
            say(_as_json(entries))
        return status

    def usage(self, message: str) -> None:
        """Say what is wrong with the arguments."""
        if self.as_json:
            say(usage_as_json(message))
        self.usage_words(message)

    @staticmethod
    def usage_words(message: str) -> None:
        """Say it on standard error."""
        print(f"{terminal.styled('onnxsmith', 'bold', sys.stderr)}: {printable(message)}", file=sys.stderr)
        print("see onnxsmith --help, or onnxsmith COMMAND --help", file=sys.stderr)

    def error(self, error: Exception) -> None:
        """Say what stopped a command."""
        if self.as_json:
            say(_as_json({"error": self.finding(error)}))
        else:
            self.findings([error])

    def stopped(self, message: str) -> None:
        """Say on standard error what stopped a command that is nobody's mistake."""
        print(f"{terminal.styled('error', 'red', sys.stderr)}: {printable(message)}", file=sys.stderr)

    def findings(self, found: Sequence[Exception]) -> None:
        """Print errors for people."""
        head = terminal.styled("error", "red", sys.stderr)
        for each in found:
            print(f"{head}: {terminal.styled_error(self.text(each), sys.stderr)}\n", file=sys.stderr)

    def warnings(self, told: Sequence[str]) -> None:
        """Print warnings for people."""
        head = terminal.styled("warning", "bold", sys.stderr)
        for each in told:
            print(f"{head}: {printable(each)}\n", file=sys.stderr)

    def text(self, error: Exception) -> str:
        """The text of an error: of one that the user's own code raised, with the traceback in that code."""
        if isinstance(error, OnnxsmithError):
            self._prepare(error)
            return printable(str(error))
        lines = traceback.format_exception(type(error), error, _in_user_code(error))
        return printable("".join(lines)).rstrip()

    def finding(self, error: Exception) -> dict[str, Any]:
        """An error for JSON."""
        if not isinstance(error, OnnxsmithError):
            return {
                "code": None,
                "kind": type(error).__name__,
                "message": str(error),
                "text": self.text(error),
            }
        self._prepare(error)
        return {
            "code": error.code,
            "kind": type(error).__name__,
            "message": error.message,
            "help": error.help,
            "places": [_place(label) for label in error.labels],
            "others": [self.finding(each) for each in error.others],
            "text": str(error),
        }

    def is_users(self, error: Exception) -> bool:
        """True if an exception is the user's own: raised by their program, or because it is no Python."""
        if isinstance(error, SyntaxError):
            return error.filename is not None and not is_library(error.filename)
        files = [entry.tb_frame.f_code.co_filename for entry in _entries(error.__traceback__)]
        ours_or_theirs = [
            each for each in files if each.startswith(PACKAGE_DIRECTORY) or not is_library(each)
        ]
        deepest = ours_or_theirs[-1] if ours_or_theirs else self.launcher
        return not deepest.startswith(PACKAGE_DIRECTORY) and deepest != self.launcher

    def _prepare(self, error: OnnxsmithError) -> None:
        """Make an error one for a command line: without the place that started us, and with help in a shell's words."""
        if error.help is not None:
            error.help = in_shell_words(error.help)
        for each in error.others:
            self._prepare(each)
        kept = (
            each
            for each in error.labels
            if each.span.file != self.launcher and not is_library(each.span.file)
        )
        error.labels = tuple(kept)


def usage_entry(message: str) -> dict[str, Any]:
    """Wrong usage in JSON, in the form that errors have."""
    return {
        "code": None,
        "kind": "Usage",
        "message": message,
        "help": None,
        "places": [],
        "others": [],
        "text": message,
    }


def usage_as_json(message: str) -> str:
    """The document of a command that its words stopped."""
    return _as_json({"error": usage_entry(message)})


def _as_json(content: Any) -> str:
    """JSON for people and programs: letters as they are, and nothing that a terminal would obey."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def _place(label: Label) -> dict[str, Any]:
    span = label.span
    return {
        "file": _full_path(span),
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
        "function": span.function,
        "text": label.text,
        "claimed_by": span.claimed_by or None,
    }


def _full_path(span: Span) -> str:
    if span.claimed_by or not os.path.exists(span.file):
        return span.file
    return os.path.abspath(span.file)


def _in_user_code(error: Exception) -> TracebackType | None:
    """The traceback from the first line of the user's program on."""
    hide_own_frames(error)
    found = (
        entry for entry in _entries(error.__traceback__) if not is_library(entry.tb_frame.f_code.co_filename)
    )
    return next(found, None)


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


# -- shell words -----------------------------------------------------------------------------------------------
# Help that speaks Python, in the words of a shell: an error is the same everywhere, what to do about it is not.


#: What Python code would write, and what stands for it on a command line; the first that fits a place counts.
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"os\.makedirs\(('.*'|\".*\")\)"), r"mkdir -p \1"),
    (
        re.compile(r"pass overwrite=True to replace it \(--force on the command line\)"),
        "say --force to replace it",
    ),
    (re.compile(r"overwrite=True"), "--force"),
    (re.compile(r"save it with external_data=True"), "say --external-data"),
    (re.compile(r"\binputs=\{'(.+?)': (FLOAT\[\.\.\.\])\}"), r"--inputs '\1=\2'"),
    (re.compile(r"\bmap=\{'(.+?)': '(.+?)'(?:, …)?\}"), r"--map \1=\2"),
    (re.compile(r"weights=([\"'])(\w+)\1"), r"--weights \2"),
    (re.compile(r"\bwith (timeout|memory)\b"), r"with --\1"),
    (re.compile(r"\bleave memory out; timeout works"), "leave --memory out; --timeout works"),
)


def in_shell_words(help_text: str) -> str:
    """Help for somebody at a command line.

    >>> in_shell_words("make it first: os.makedirs('out')")
    "make it first: mkdir -p 'out'"
    """
    for pattern, words in _WORDS:
        help_text = pattern.sub(words, help_text)
    return help_text
