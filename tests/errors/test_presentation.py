"""What a user sees of an error in a terminal, in IPython and in pytest: their own lines, and nothing of ours."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith.errors import CallError, OnnxsmithError, ShapeError
from onnxsmith.source import Span
from tests.errors.catalogue import run

PACKAGE = os.path.dirname(onnxsmith.__file__) + os.sep
PROGRAM = """\
from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset21 as op


@script
def normalize(x: FLOAT["N", 4], counts: INT64["N", 1]):
    scaled = x / counts
    return op.Softmax(scaled, axis=1)
"""
UNDERLINED = ["    scaled = x / counts", "                 ^^^^^^"]


def python(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(PACKAGE).parent)
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_terminal(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    seen = python("program.py", cwd=tmp_path, ONNXSMITH_TRACEBACK="")
    assert seen.returncode == 1
    assert PACKAGE not in seen.stderr
    assert "onnxsmith.errors.MixedDTypesError: " in seen.stderr
    assert all(line in seen.stderr for line in UNDERLINED)
    assert seen.stderr.count('File "') == 2  # the decorator, and the line that is wrong


def test_full_traceback(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    assert PACKAGE in python("program.py", cwd=tmp_path, ONNXSMITH_TRACEBACK="full").stderr


def test_pytest(tmp_path: Path) -> None:
    test = PROGRAM.replace("@script", "def test_it():\n    script(normalize)\n\n") + "\n"
    (tmp_path / "test_program.py").write_text(test, encoding="utf-8")
    seen = python("-m", "pytest", "-p", "no:cacheprovider", "test_program.py", cwd=tmp_path)
    assert seen.returncode == 1
    assert PACKAGE not in seen.stdout
    assert f"{os.sep}onnxsmith{os.sep}" not in seen.stdout
    assert "MixedDTypesError" in seen.stdout
    assert UNDERLINED[0] in seen.stdout


@pytest.fixture
def shell():
    """An IPython, as in a notebook's kernel."""
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    made = interactive.InteractiveShell.instance()
    made.run_line_magic("colors", "nocolor")
    yield made
    interactive.InteractiveShell.clear_instance()


@pytest.mark.filterwarnings("ignore")  # what IPython does to its history when it is not a terminal
def test_ipython(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        result = shell.run_cell(PROGRAM, store_history=True)
    seen = output.getvalue()
    assert isinstance(result.error_in_exec, OnnxsmithError)
    assert PACKAGE not in seen
    assert re.search(r"--> Cell In\[\d+\]:7:18 in normalize", seen)
    assert all(line in seen for line in UNDERLINED)
    # The frames are the user's cells, and the excerpt with the caret is the error's own.
    assert re.search(r'File "Cell In\[\d+\]", line 7, in normalize', seen)


def formatted(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_an_error_of_the_users_own_code_loses_our_frames(tmp_path: Path) -> None:
    program = PROGRAM.replace("x / counts", 'x * {}["alpha"]')
    with pytest.raises(KeyError) as caught:
        run(program, tmp_path)
    assert PACKAGE not in formatted(caught.value)
    assert 'x * {}["alpha"]' in formatted(caught.value)


@pytest.mark.parametrize("call", ["jit(tenfold)", "script(tenfold).jit"])
def test_an_error_in_a_jitted_function_loses_our_frames(call: str, tmp_path: Path) -> None:
    program = f"""\
import numpy as np

from onnxsmith import jit, script

FACTORS = {{"ten": 10.0}}


def tenfold(x):
    return x * FACTORS["ten"]


jitted = {call}
FACTORS.clear()
jitted(np.ones(3))
"""
    with pytest.raises(KeyError) as caught:
        run(program, tmp_path)
    assert PACKAGE not in formatted(caught.value)
    assert 'x * FACTORS["ten"]' in formatted(caught.value)


def test_an_error_of_ours_keeps_its_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxsmith.core.call.check_types", len)  # which takes one argument, not two
    with pytest.raises(TypeError) as caught:
        run(PROGRAM, tmp_path)
    assert PACKAGE in formatted(caught.value)


def test_what_the_user_was_handling_stays_visible(tmp_path: Path) -> None:
    program = """\
from onnxsmith import opset21 as op

try:
    {}["missing"]
except KeyError:
    op.Reul(1.0)
"""
    outcome = run(program, tmp_path)
    assert outcome is not None
    assert "KeyError: 'missing'" in outcome.formatted
    assert "During handling of the above exception" in outcome.formatted
    assert PACKAGE not in outcome.formatted


def test_an_error_crosses_processes() -> None:
    error = ShapeError("does not fit", help="reshape it").locate(Span("model.py", 3, 4, 3, 9, "f"))
    error.others = (CallError("another"),)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ShapeError
    assert str(copy) == str(error)
    assert copy.span == error.span


def test_parts_of_an_error() -> None:
    with pytest.raises(OnnxsmithError) as caught:
        onnxsmith.opset21.MatMul(1.0)
    error = caught.value
    assert error.code == "C303"
    assert error.help == "MatMul(A, B)"
    assert error.span is not None
    assert error.span.file == __file__
    assert error.span.function == "test_parts_of_an_error"
