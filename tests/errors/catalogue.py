"""The catalogue of mistakes: programs that are wrong, each with the error that its author sees.

A case is a text file: comments that name the mistake, when it must be found and which error it is, the program, then
a line that begins with `====` with the class, its builtin and the span, and below it the whole text of the error. What
is below that line is written by `--update-golden`; what is above it is written by people.
"""

from __future__ import annotations

import ast
import builtins
import io
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from unittest import mock

from onnxsmith.errors import OnnxsmithError

CASES = Path(__file__).parent / "cases"
#: The file that every program is run as.
PROGRAM = "program.py"
_MARK = "\n==== "


@dataclass(frozen=True)
class Case:
    """One program and what it must raise."""

    path: Path
    program: str
    #: "decoration": the mistake can be known when the function is decorated, so it is found then. Or "call".
    when: str
    raises: str
    expected: str

    @property
    def name(self) -> str:
        return self.path.relative_to(CASES).with_suffix("").as_posix()


@dataclass(frozen=True)
class Outcome:
    """What a program raised."""

    error: OnnxsmithError
    when: str
    formatted: str

    @property
    def described(self) -> str:
        """What a case file holds below its program."""
        error = self.error
        builtins = ", ".join(base.__name__ for base in type(error).__bases__[1:])
        span = error.span
        place = "nowhere" if span is None else f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"
        return f"{type(error).__name__} ({builtins}) {place}\n{error}\n"


def read_cases() -> list[Case]:
    """All cases, by name."""
    return [_read(path) for path in sorted(CASES.rglob("*.txt"))]


def _read(path: Path) -> Case:
    text = path.read_text(encoding="utf-8")
    program, _, expected = text.partition(_MARK)
    return Case(
        path, program.rstrip() + "\n", _header(text, "# found at: "), _header(text, "# raises: "), expected
    )


def _header(text: str, word: str) -> str:
    return next(line.removeprefix(word) for line in text.splitlines() if line.startswith(word))


def write(case: Case, outcome: Outcome) -> None:
    """Put what the program raised into its file."""
    case.path.write_text(f"{case.program}{_MARK}{outcome.described}", encoding="utf-8")


def run(program: str, folder: Path) -> Outcome | None:
    """Run a program as a file in a folder, which must be the working directory; None when it raises nothing."""
    file = folder / PROGRAM
    file.write_text(program, encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "program", "__file__": str(file)}
    try:
        exec(compile(program, str(file), "exec", dont_inherit=True), namespace)
    except OnnxsmithError as error:
        line = _outermost_line(error.__traceback__, str(file))
        return Outcome(error, _phase(program, line), "".join(traceback.format_exception(error)))
    return None


@contextmanager
def no_file_left_open() -> Generator[None]:
    """Within the block every file that is opened is closed again, by the program and by us.

    One that is left open is closed by the collector at any later time, with a warning that fails another test.
    """
    opened: list[IO[Any]] = []
    real = io.open

    def recording(*arguments: Any, **options: Any) -> IO[Any]:
        opened.append(real(*arguments, **options))
        return opened[-1]

    with mock.patch.object(builtins, "open", recording), mock.patch.object(io, "open", recording):
        yield
    left = [file.name for file in opened if not file.closed]
    for file in opened:
        file.close()
    assert not left, f"left open: {left}"


def _outermost_line(entry: TracebackType | None, file: str) -> int:
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == file:
            return entry.tb_lineno
        entry = entry.tb_next
    raise AssertionError("the traceback shows nothing of the program")


def _phase(program: str, line: int) -> str:
    """Whether the statement that was running when the error came out is a decorated function."""
    for statement in ast.parse(program).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        if decorators and first <= line <= (statement.end_lineno or first):
            return "decoration"
    return "call"
