"""What a command says: results on stdout as text or JSON, mistakes on stderr, or in the JSON.

The errors are the ones that Python code gets; here they come without a traceback.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.diagnostics import Label, hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.source import PACKAGE_DIRECTORY, is_library


class Usage(Exception):
    """The arguments make no sense together; exit code 2."""


@dataclass(frozen=True, slots=True)
class Report:
    """Where a command's words go."""

    #: The file that started us; nobody's mistake stands there.
    launcher: str
    as_json: bool

    def result(self, content: Any, text: str) -> None:
        """Print the result of a command."""
        print(json.dumps(content, indent=2, ensure_ascii=False) if self.as_json else text)

    def usage(self, message: str) -> None:
        """Say what is wrong with the arguments."""
        if self.as_json:
            print(json.dumps({"usage": message}))
        print(f"{terminal.styled('onnxsmith', 'bold', sys.stderr)}: {message}", file=sys.stderr)
        print("see onnxsmith --help, or onnxsmith COMMAND --help", file=sys.stderr)

    def error(self, error: OnnxsmithError) -> None:
        """Say what stopped a command."""
        if self.as_json:
            print(json.dumps({"error": self.finding(error)}, indent=2, ensure_ascii=False))
        else:
            self.findings([error])

    def findings(self, found: Sequence[Exception]) -> None:
        """Print errors for people."""
        head = terminal.styled("error", "red", sys.stderr)
        for each in found:
            text = self.text(each)
            print(f"{head}: {terminal.styled_error(text, sys.stderr)}", file=sys.stderr)

    def text(self, error: Exception) -> str:
        """The text of an error: of one that the user's own code raised, with the traceback in that code."""
        if isinstance(error, OnnxsmithError):
            self._forget_launcher(error)
            return str(error)
        return "".join(traceback.format_exception(type(error), error, _in_user_code(error))).rstrip()

    def finding(self, error: Exception) -> dict[str, Any]:
        """An error for JSON."""
        if not isinstance(error, OnnxsmithError):
            return {"code": None, "kind": type(error).__name__, "message": str(error), "text": self.text(error)}
        self._forget_launcher(error)
        return {
            "code": error.code,
            "kind": type(error).__name__,
            "message": error.message,
            "help": error.help,
            "places": [_place(label) for label in error.labels],
            "others": [self.finding(each) for each in error.others],
            "text": str(error),
        }

    def _forget_launcher(self, error: OnnxsmithError) -> None:
        error.labels = tuple(each for each in error.labels if each.span.file not in ("", self.launcher))


def _place(label: Label) -> dict[str, Any]:
    span = label.span
    return {
        "file": os.path.abspath(span.file) if os.path.exists(span.file) else span.file,
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
        "function": span.function,
        "text": label.text,
    }


def _in_user_code(error: Exception) -> Any:
    """The traceback from the first line of the user's program on."""
    hide_own_frames(error)
    entry = error.__traceback__
    while entry is not None and (
        is_library(entry.tb_frame.f_code.co_filename)
        or entry.tb_frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY)
    ):
        entry = entry.tb_next
    return entry
