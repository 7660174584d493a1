"""The process that takes files through commands: reads paths and names of commands, writes what came of each.

Run as `python -m tests.cli.command_worker`. It may die or hang; `tests.laws.pool` starts another one then.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sys
import traceback
import warnings
from pathlib import Path
from typing import IO

import onnxruntime as ort

from onnxsmith.cli import main
from tests.cli.file_commands import COMMANDS
from tests.laws.messages import answer_stream, questions, send
from tests.laws.outcome import Outcome

#: More than any command needs for a file of a few megabytes; what wants more gets an error.
MEMORY = 4 << 30
#: What is left of it for the next command, or the process begins anew: one that has none refuses every file.
LEFT = 2 << 30
#: The argument of a process that goes on in the place of another.
_AGAIN = "--again"


def outcome(path: Path, command: str) -> Outcome:
    """The exit code of a command, or what came out of it that is no error of ours."""
    printed, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            status = main(COMMANDS[command](path))
    except BaseException as error:  # SystemExit, too, would leave without a word of ours
        frames = traceback.extract_tb(error.__traceback__)
        ours = [each for each in frames if "/src/onnxsmith/" in each.filename][-1:]
        place = ", ".join(f"{Path(each.filename).name}:{each.lineno}" for each in (*ours, *frames[-1:]))
        return Outcome("raw error", name=type(error).__name__, text=f"{str(error)[:200]} ({place})")
    text = errors.getvalue()
    if "Traceback (most recent call last)" in text:
        return Outcome("raw error", name="Traceback", text=text[-300:])
    return Outcome("values", (status,), text=text[-300:])


def _begin_anew(answers: IO[bytes]) -> None:
    """Run the program again in this process, which gives back all memory."""
    os.dup2(answers.fileno(), 1)
    os.execv(sys.executable, [*sys.orig_argv, *([] if _AGAIN in sys.argv else [_AGAIN])])


def _memory() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def answer() -> None:
    """Answer until there is nothing more to read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    ort.set_default_logger_severity(4)
    os.environ["ONNXSMITH_TRACEBACK"] = "full"
    answers = answer_stream()
    if _AGAIN not in sys.argv:
        send(answers, "ready")
    for question in questions():
        assert isinstance(question, tuple)
        path, commands = question
        for command in commands:
            send(answers, outcome(path, command))
        if _memory() > MEMORY - LEFT:
            _begin_anew(answers)


if __name__ == "__main__":
    answer()
