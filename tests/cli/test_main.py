"""The command itself: help, exit codes, colour, and how little it imports."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith.cli import COMMANDS, terminal
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.types.names import TYPE_NAMES
from tests.cli.conftest import Run

SOURCE = Path(onnxsmith.__file__).parents[1]


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_as_a_program(tmp_path: Path, program: Path) -> None:
    built = python("-m", "onnxsmith", "build", "net.py:forward", "-o", "m.onnx", cwd=tmp_path)
    assert (built.returncode, built.stderr) == (0, "")
    ran = python("-m", "onnxsmith", "run", "m.onnx", "--random", "--dim", "N=2", cwd=tmp_path)
    assert ran.returncode == 0
    assert "float32 of shape (2, 3)" in ran.stdout
    wrong = python("-m", "onnxsmith", "run", "m.onnx", cwd=tmp_path)
    assert wrong.returncode == 1
    assert "Traceback" not in wrong.stderr


def test_files_beside_a_model_are_not_run(tmp_path: Path, model: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('a stranger runs')\n")
    seen = python("-m", "onnxsmith", "info", "m.onnx", cwd=tmp_path)
    assert (seen.returncode, seen.stderr) == (0, "")


def test_a_program_with_the_name_of_another_module(tmp_path: Path, program: Path) -> None:
    program.rename(tmp_path / "random.py")
    seen = python("-m", "onnxsmith", "build", "random.py:forward", cwd=tmp_path)
    assert (seen.returncode, seen.stderr) == (0, "")


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    heavy = ("numpy", "onnx", "onnx_ir", "onnxruntime", "torch", "ast", "inspect")
    code = (
        f"import sys; from onnxsmith.cli import main; main([*{words!r}, '--help']); "
        f"print([each for each in {heavy!r} if each in sys.modules])"
    )
    seen = python("-c", code)
    assert seen.stdout.splitlines()[-1] == "[]"


def test_explain_does_not_import_numpy() -> None:
    code = (
        "import sys; from onnxsmith.cli import main; main(['explain', 'C401']); print('numpy' in sys.modules)"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "False"


def test_the_package_lists_every_element_type() -> None:
    assert set(TYPE_NAMES) <= set(onnxsmith.__all__)


def test_help(run: Run) -> None:
    seen = run("--help")
    assert seen.status == 0
    assert all(name in seen.out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands(run: Run, command: str) -> None:
    seen = run(command, "--help")
    assert seen.status == 0
    assert "--json" in seen.out


def test_version(run: Run) -> None:
    assert run("--version").out == f"onnxsmith {onnxsmith.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["info"], ["info", "--unknown"], ["--unknown"]])
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    seen = run(*arguments)
    assert seen.status == 2
    assert "usage: onnxsmith" in seen.err


@pytest.mark.parametrize(
    ("word", "meant"),
    [("optimise", "optimize"), ("infos", "info"), ("Build", "build"), ("setshapes", "set-shapes")],
)
def test_a_command_that_is_misspelt(run: Run, word: str, meant: str) -> None:
    for rest in ([], ["m.onnx", "-o", "n.onnx"], ["--help"]):
        seen = run(word, *rest)
        assert (seen.status, seen.out) == (2, "")
        assert seen.err.endswith(f"there is no command '{word}'; did you mean '{meant}'?\n")
    assert f"did you mean '{meant}'?" in run(word, "--json").json["error"]["message"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_lacks_a_letter(run: Run, command: str) -> None:
    """Longer names are recognised without any one of their letters; of `ops` too little is left."""
    for k in range(len(command) if len(command) > 3 else 0):
        word = command[:k] + command[k + 1 :]
        assert f"'{command}'" in run(word).err.partition("did you mean ")[2], word


def test_a_word_that_is_like_no_command_gets_all_of_them(run: Run) -> None:
    seen = run("qqq")
    assert "there is no command 'qqq'; the commands are build, " in seen.err
    assert all(name in seen.err for name in COMMANDS)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.styled("x", "red", Terminal()) == "\x1b[1;31mx\x1b[0m"
    assert terminal.styled("x", "red", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.styled("x", "red", Terminal()) == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert terminal.styled("x", "red", Terminal()) == "x"


def test_an_error_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = "what [C401]\n  --> a.py:1:1 in f\n1 | x + y\n  |     ^ here\n  = help: do this"
    lines = terminal.styled_error(text, Terminal()).splitlines()
    assert lines[0] == "\x1b[1mwhat [C401]\x1b[0m"
    assert lines[3] == "\x1b[1;34m  | \x1b[0m    \x1b[1;31m^ here\x1b[0m"
    assert terminal.styled_error(text, io.StringIO()) == text


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    with terminal.progress("reading"):
        pass
    assert seen.getvalue() == "\rreading …\r\x1b[K"
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    with terminal.progress("reading"):
        pass
    assert plain.getvalue() == ""


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (1000, "1.0 kB"), (5_000_000_000_000, "5000.0 GB")]
)
def test_sizes(count: int, text: str) -> None:
    assert described_bytes(count) == text
