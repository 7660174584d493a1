"""What a command says: results as text or JSON, errors with their places, and help in a shell's words."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onnxsmith.cli.report import Report, in_shell_words, usage_entry
from onnxsmith.diagnostics import Label
from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.source import PACKAGE_DIRECTORY, Span

LAUNCHER = "/somewhere/bin/onnxsmith"


def report(**options: Any) -> Report:
    return Report(LAUNCHER, **{"as_json": False, **options})


def span(file: str, **options: Any) -> Span:
    return Span(file, 3, 4, 5, 6, "f", **options)


def failed(*labels: Label, help: str | None = None) -> OnnxsmithError:
    error = InvalidModelError("it is wrong", help=help)
    error.labels = labels
    return error


def test_results(capsys: pytest.CaptureFixture[str]) -> None:
    report().result({"a": 1}, "text")
    report(as_json=True).result({"a": "ü\x1b"}, "text")
    report(is_quiet=True).result({"a": 1}, "text")
    assert capsys.readouterr().out == 'text\n{\n  "a": "ü\\u001b"\n}\n'


def worked(file: str) -> tuple[dict[str, Any], str]:
    if file == "bad":
        raise failed()
    return {"nodes": 1}, f"of {file}\nmore"


@pytest.mark.parametrize(
    ("options", "is_output", "out"),
    [
        ({}, False, "of a\nmore\n\nof b\nmore\n"),
        ({"is_quiet": True}, False, ""),
        ({"is_quiet": True}, True, "of a\nmore\n\nof b\nmore\n"),
    ],
)
def test_several_files(
    options: dict[str, Any], is_output: bool, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(**options).each(["a", "b"], worked, is_output=is_output) == 0
    assert capsys.readouterr().out == out


def test_one_that_fails_does_not_keep_others_from_their_turn(capsys: pytest.CaptureFixture[str]) -> None:
    assert report().each(["bad", "a"], worked) == 1
    told = capsys.readouterr()
    assert "it is wrong" in told.err
    assert told.out == "\nof a\nmore\n"
    assert report(as_json=True).each(["bad", "a"], worked) == 1
    told = capsys.readouterr()
    first, second = json.loads(told.out)
    assert (first["file"], first["error"]["message"]) == ("bad", "it is wrong")
    assert second == {"file": "a", "nodes": 1}
    assert told.err == ""


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    report().usage("no such thing\x1b")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == ("onnxsmith: no such thing\\x1b\nsee onnxsmith --help, or onnxsmith COMMAND --help\n")
    report(as_json=True).usage("no such thing")
    told = capsys.readouterr()
    assert json.loads(told.out) == {"error": usage_entry("no such thing")}
    assert "no such thing" in told.err
    assert usage_entry("x") == {
        "code": None, "kind": "Usage", "message": "x", "help": None, "places": [], "others": [], "text": "x"
    }  # fmt: skip


def test_errors_warnings_and_what_stopped_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    report().error(failed())
    report().warnings(["first", "second"])
    report().stopped("no more memory")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: it is wrong")
    assert told.err.endswith("warning: first\n\nwarning: second\n\nerror: no more memory\n")
    report(as_json=True).error(failed())
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["message"] == "it is wrong"
    assert told.err == ""


def test_an_error_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.py").write_text("x")
    error = failed(
        Label(span("there.py"), "here"),
        Label(span("gone.py"), "there"),
        Label(span("there.py", claimed_by="a model"), "claimed"),
        Label(span(LAUNCHER), "the launcher"),
        Label(span(os.__file__), "a library"),
        help="pass overwrite=True to replace it (--force on the command line)",
    )
    error.others = (failed(help="with timeout"),)
    found = report().finding(error)
    assert (found["code"], found["kind"], found["message"]) == (
        error.code,
        "InvalidModelError",
        "it is wrong",
    )
    assert found["help"] == "say --force to replace it"
    assert found["others"][0]["help"] == "with --timeout"
    assert [each["file"] for each in found["places"]] == [str(tmp_path / "there.py"), "gone.py", "there.py"]
    assert found["places"][2]["claimed_by"] == "a model"
    assert found["places"][0] == {
        "file": str(tmp_path / "there.py"),
        "line": 3,
        "column": 5,
        "end_line": 5,
        "end_column": 7,
        "function": "f",
        "text": "here",
        "claimed_by": None,
    }
    assert found["text"] == str(error)


def raised(source: str, file: str) -> Exception:
    try:
        exec(compile(source, file, "exec"), {})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_errors_of_the_users_program() -> None:
    own = raised("def f():\n    return 1 / 0\nf()", "/home/own.py")
    assert report().is_users(own)
    text = report().text(own)
    assert '"/home/own.py", line 3' in text
    assert "test_report" not in text.partition("/home/own.py")[0] or text.startswith("Traceback")
    assert text.endswith("ZeroDivisionError: division by zero")
    found = report().finding(own)
    assert found == {"code": None, "kind": "ZeroDivisionError", "message": "division by zero", "text": text}
    assert not report().is_users(raised("1 / 0", f"{PACKAGE_DIRECTORY}/core/x.py"))
    assert not report().is_users(raised("1 / 0", LAUNCHER))
    assert report().is_users(SyntaxError("wrong", ("/home/own.py", 1, 1, "x")))
    assert not report().is_users(SyntaxError("wrong", (os.__file__, 1, 1, "x")))
    assert not report().is_users(SyntaxError("wrong"))
    assert not report().is_users(ValueError("raised by nobody"))


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ('os.makedirs("out")', 'mkdir -p "out"'),
        ("overwrite=True", "--force"),
        ("save it with external_data=True", "say --external-data"),
        ("inputs={'x': FLOAT[...]}", "--inputs 'x=FLOAT[...]'"),
        ("map={'a': 'b', …}", "--map a=b"),
        ("map={'a': 'b'}", "--map a=b"),
        ("weights='external'", "--weights external"),
        ("with memory", "with --memory"),
        ("leave memory out; timeout works", "leave --memory out; --timeout works"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_shell_words(python: str, shell: str) -> None:
    assert in_shell_words(python) == shell
