"""A breakpoint on a line of a script stops in the run on values, with its caller right above it, and not in staging."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripting.functions.editor import Editor

PROGRAM = """
import numpy as np
from onnxsmith import FLOAT, script

def scaled(factor):
    @script
    def f(x: FLOAT["N"], k: float = 2.0):
        y = x * k * factor
        if y.sum() > 3:
            y = y + 1.0
        return y
    return f

def main():
    a = np.float32([1, 2])
    f = scaled(np.float32(1))
    r = f(a)
    f.to_model()
    print("result", r, type(r).__name__)

main()
""".lstrip()

#: Lines of the program: the assignment in the branch, the call of the script.
BRANCH, CALL = 9, 16


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def with_pdb(program: Path, *commands: str, **environment: str) -> list[str]:
    """What pdb answers to each command."""
    run = subprocess.run(
        [sys.executable, "-m", "pdb", str(program)],
        input="\n".join([*commands, "q", ""]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in run.stdout + run.stderr
    return [each.strip() for each in run.stdout.split("(Pdb)")[1:]]


def frames(where: str) -> list[str]:
    """The functions that pdb's `w` shows, outermost first."""
    lines = [line.lstrip(" >") for line in where.splitlines()]
    return [line.rsplit(")", 2)[-2].rstrip("(") for line in lines if line.endswith("()") and line[0] != "-"]


def test_pdb_stops_on_values_with_the_caller_above(program: Path) -> None:
    _, stop, where, before, _, after, caller, argument, end = with_pdb(
        program, f"b {BRANCH}", "c", "w", "p y", "n", "p y", "up", "p a", "c"
    )[:9]
    assert f"({BRANCH})f()" in stop
    assert frames(where)[-3:] == ["<module>", "main", "f"]
    assert before == "tensor([2., 4.], dtype=float32)"
    assert after == "tensor([3., 5.], dtype=float32)"
    assert f"({CALL})main()" in caller
    assert argument == "array([1., 2.], dtype=float32)"
    assert end.startswith("result [3. 5.] ndarray")


def test_pdb_steps_into_a_script_and_out_of_it(program: Path) -> None:
    _, _, call, _, first, second, factor, end, after = with_pdb(
        program, f"b {CALL}", "c", "s", "s", "s", "n", "p factor", "r", "n"
    )[:9]
    assert "--Call--" in call
    assert "(6)f()" in call
    assert "(7)f()" in first
    assert "(8)f()" in second
    assert "1.0" in factor
    assert "--Return--" in end
    assert f"({CALL + 1})main()" in after


def test_staging_can_be_stepped_through_on_request(program: Path) -> None:
    _, stop, value = with_pdb(program, f"b {BRANCH}", "c", "p y", ONNXSMITH_DEBUG="staging")[:3]
    assert f"({BRANCH})f()" in stop
    assert "symbolic tensor" in value


def test_an_editor_stops_on_values_with_the_caller_above(program: Path) -> None:
    with Editor(program) as editor:
        editor.start(BRANCH)
        assert editor.stopped() == [("f", BRANCH), ("main", CALL), ("<module>", CALL + 4)]
        assert editor.value("y") == "tensor([2., 4.], dtype=float32)"
        assert editor.value("a", level=1) == "array([1., 2.], dtype=float32)"
        assert editor.step("next")[0] == ("f", BRANCH + 1)
        assert editor.value("y") == "tensor([3., 5.], dtype=float32)"
        assert editor.step("stepOut")[0][0] == "main"
        assert "result [3. 5.] ndarray" in editor.go_on()


def test_an_editor_steps_into_a_script(program: Path) -> None:
    with Editor(program) as editor:
        editor.start(CALL)
        assert editor.stopped()[0] == ("main", CALL)
        stack = editor.step("stepIn")
        assert [name for name, _ in stack] == ["f", "main", "<module>"]


CONSTANTS = """
import numpy as np
from onnxsmith import FLOAT, script

class K:
    def __init__(self):
        self.__w = 2.0

    @script
    def f(self, x: FLOAT["N"]):
        text = "the steps of a call"
        if text in {"the steps of a call"}:
            y = x * self.__w
        z = y + float(len((text,)))
        return z

r = K().f(np.float32([1, 2]))
print("result", r)
""".lstrip()


def test_pdb_sees_constants_and_private_names_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(CONSTANTS)
    _, _, text, private, end = with_pdb(file, "b 14", "c", "p text", "p self._K__w", "c")[:5]
    assert text == "'the steps of a call'"
    assert private == "2.0"
    assert end.startswith("result [3. 5.]")
