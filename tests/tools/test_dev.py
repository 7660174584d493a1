"""The developer's entry point: help, unknown tasks, when it installs, and what it says when it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import dev


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that looks as if it had been made; returns the stamp that says what is installed."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    monkeypatch.setattr(dev, "PYTHON", python)
    monkeypatch.setattr(dev, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(dev, "has_pip", lambda _: True)
    return tmp_path / "stamp.json"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What pip is asked for, instead of being run."""
    asked: list[str] = []

    def record(command: list[str]) -> int:
        asked.append(command[-1].removeprefix(str(dev.ROOT)))
        return 0

    monkeypatch.setattr(dev.subprocess, "call", record)
    return asked


def test_without_a_task_it_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main([]) == 0
    text = capsys.readouterr().out
    for name in dev.TASKS:
        assert f"\n  {name} " in text


def test_every_task_has_one_line_of_help() -> None:
    for name, task in dev.TASKS.items():
        assert task.__doc__, name
        assert "\n" not in task.__doc__, name


@pytest.mark.parametrize("name", sorted(set(dev.TASKS) - set(dev.BARE_TASKS)))
def test_the_help_of_a_task_installs_nothing(
    name: str,
    installed: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "nothing")
    assert dev.main([name, "--help"]) == 0
    assert f"dev.py {name} [arguments]\n\n{dev.TASKS[name].__doc__}" in capsys.readouterr().out
    assert not installed


def test_a_task_lists_its_options_where_it_is_installed(
    environment: Path, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dev.ensure({"dev"})
    run: list[tuple[str, ...]] = []
    monkeypatch.setattr(dev, "run", lambda *words: run.append(tuple(map(str, words[1:]))) or 0)
    assert dev.main(["alone", "--help"]) == 0
    assert run == [("-m", "tools.mutants.alone", "--help")]


def test_unknown_task() -> None:
    with pytest.raises(SystemExit, match="there is no task 'tset'"):
        dev.main(["tset"])


def test_installs_once_and_again_for_more(environment: Path, installed: list[str]) -> None:
    dev.ensure({"ort"})
    dev.ensure({"ort"})
    assert installed == ["[ort]"]
    dev.ensure({"dev"})
    dev.ensure({"ort"})
    assert installed == ["[ort]", "[dev,ort]"]


def test_what_an_extra_includes_is_there(environment: Path, installed: list[str]) -> None:
    dev.ensure({"dev"})
    dev.ensure({"ort"})
    assert installed == ["[dev]"]


def test_installs_again_when_the_project_file_changed(environment: Path, installed: list[str]) -> None:
    environment.write_text(json.dumps({"fingerprint": "of another file", "extras": ["dev"]}))
    dev.ensure({"dev"})
    assert installed == ["[dev]"]


def test_a_damaged_stamp_is_no_stamp(environment: Path, installed: list[str]) -> None:
    environment.write_text("{")
    dev.ensure({"dev"})
    assert installed == ["[dev]"]


def test_a_failed_installation_leaves_no_stamp(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.subprocess, "call", lambda command: 1)
    with pytest.raises(SystemExit, match="the installation failed"):
        dev.ensure({"dev"})
    assert not environment.exists()


def test_without_any_pip_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "has_pip", lambda _: False)
    monkeypatch.setattr(dev.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="has no pip, and cannot make one") as stopped:
        dev.pip_command(dev.PYTHON)
    assert "apt install python3-pip" in str(stopped.value)


def test_it_starts_in_a_bare_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(Path(dev.__file__)), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: python3 dev.py TASK")


def test_the_oldest_environment_holds_the_lowest_versions_that_are_declared() -> None:
    project = tomllib.loads((dev.ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = dev.oldest_requirements()
    for each in (*project["dependencies"], *(each for extra in dev.TESTED_EXTRAS for each in extras[extra])):
        name, _, version = each.partition(">=")
        assert version, f"{each} has no lowest version"
        assert f"{name}=={version}" in asked
    assert {each.partition(">=")[0] for each in asked if "==" not in each} == {
        *dev.OLDEST_TOOLS,
        *dev.FRAME_TOOLS,
    }


def test_the_core_tests_are_there() -> None:
    for each in dev.CORE_TESTS:
        assert (dev.ROOT / each).exists()


def test_oldest_installs_once_into_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: list[str]
) -> None:
    monkeypatch.setattr(dev, "ENVIRONMENT", tmp_path / "env")
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "env" / "bin" / "python")
    monkeypatch.setattr(dev, "has_pip", lambda _: True)
    python = tmp_path / "env-oldest" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert dev.ensure_beside("oldest", dev.oldest_requirements()) == python
    assert dev.ensure_beside("oldest", dev.oldest_requirements()) == python
    assert len(installed) == 1


def test_the_language_tests_are_there() -> None:
    for each in dev.NEWER_TESTS:
        assert (dev.ROOT / each).exists()
    needed, tools = dev.requirements(dev.LANGUAGE_TOOLS)
    assert {each.partition(">=")[0] for each in tools} == set(dev.LANGUAGE_TOOLS)
    # The catalogue of errors has those of pipelines, whose programs import both.
    assert "scikit-learn" in {each.partition(">=")[0] for each in needed}
    assert "pandas" in dev.LANGUAGE_TOOLS


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a program on PATH that is called as a Python, and says what it is told to say."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))

    def put(version: str, says: str) -> Path:
        program = tmp_path / f"python{version}"
        program.write_text(f"#!/bin/sh\n{says}\n")
        program.chmod(0o755)
        return program

    return put


def newer(by: int) -> str:
    return f"3.{sys.version_info.minor + by}"


@pytest.mark.skipif(os.name == "nt", reason="programs are found otherwise there")
def test_the_newest_python_that_starts_is_found(on_path) -> None:
    assert dev.newest_version() == dev.NEWER_PYTHON
    found = on_path(newer(1), f"echo {newer(1)}")
    on_path(newer(2), "echo python: command not found; exit 127")
    on_path(newer(3), f"echo {newer(1)}")
    assert dev.newest_version() == newer(1)
    assert dev.interpreter_of(newer(1)) == str(found)


@pytest.mark.skipif(os.name == "nt", reason="programs are found otherwise there")
def test_a_python_of_pyenv_is_found_though_it_is_not_on_path(on_path, tmp_path: Path) -> None:
    for patch in ("2", "10", "11t"):
        program = tmp_path / "pyenv" / "versions" / f"3.99.{patch}" / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho 3.99\n")
        program.chmod(0o755)
    assert dev.interpreter_of("3.99") == str(tmp_path / "pyenv" / "versions" / "3.99.10" / "bin" / "python")


@pytest.mark.skipif(os.name == "nt", reason="programs are found otherwise there")
def test_a_python_that_is_not_there_is_installed(on_path, tmp_path: Path) -> None:
    installer = tmp_path / "pyenv-program"
    installer.write_text(
        f"#!/bin/sh\nprintf '#!/bin/sh\\necho 3.99\\n' > {tmp_path}/python3.99; chmod +x {tmp_path}/python3.99\n"
    )
    installer.chmod(0o755)
    installer.rename(tmp_path / "uv")
    assert dev.installed_interpreter("3.99") == str(tmp_path / "python3.99")


@pytest.mark.skipif(os.name == "nt", reason="programs are found otherwise there")
@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], [*dev.NEWER_TESTS, "-k", dev.NOT_LANGUAGE]),
        ([newer(1), "tests/core"], ["tests/core"]),
        (["-x"], ["-x"]),
    ],
)
def test_another_python_runs_the_tests_in_an_environment_of_its_own(
    arguments, given, on_path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, commands = on_path(newer(1), f"echo {newer(1)}"), []
    monkeypatch.setattr(dev, "ENVIRONMENT", tmp_path / "env")
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "env" / "bin" / "python")
    monkeypatch.setattr(dev, "has_pip", lambda _: True)

    def record(command: list[str], **_: object) -> int:
        commands.append(command)
        (tmp_path / f"env-python{newer(1)}").mkdir(exist_ok=True)
        return 0

    monkeypatch.setattr(dev.subprocess, "call", record)
    assert dev.main(["python", *arguments]) == 0
    made, _, _, tested = commands
    environment = tmp_path / f"env-python{newer(1)}"
    assert made == [str(found), "-m", "venv", "--without-pip", str(environment)]
    assert tested == [str(environment / "bin" / "python"), "-m", "pytest", *given]


def test_a_python_that_cannot_be_installed_is_said_loudly(on_path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path_uv = on_path("-of-nothing", "echo no such version >&2; exit 1")
    on_path_uv.rename(on_path_uv.with_name("uv"))
    with pytest.raises(
        SystemExit, match=r"(?s)there is no Python 3\.99 .*uv python install .* no such version"
    ):
        dev.main(["python", "3.99"])
