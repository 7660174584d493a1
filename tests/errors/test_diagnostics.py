"""How places in the source are shown: carets under the right characters, whatever the line holds."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from onnxsmith.diagnostics import Label, did_you_mean, display_path, render, undefined_name_help
from onnxsmith.source import Span, argument_span, text_of

FILE = "shown.py"


@pytest.fixture
def source() -> Iterator[list[str]]:
    """The lines of a file that is only in memory."""
    lines: list[str] = []
    linecache.cache[FILE] = (0, None, lines, FILE)
    yield lines
    del linecache.cache[FILE]


def at(line: int, start: int, end: int, end_line: int | None = None) -> Span:
    return Span(FILE, line, start, end_line or line, end, "f")


def test_nothing_is_known() -> None:
    assert render("what", [], None) == "what"
    assert render("what", [], "do this\nor that") == "what\n  = help: do this\n          or that"


def test_one_place(source: list[str]) -> None:
    source.append("y = x + z\n")
    assert render("what", [Label(at(1, 8, 9), "here")], "help") == (
        "what\n  --> shown.py:1:9 in f\n1 | y = x + z\n  |         ^ here\n  = help: help"
    )


def test_columns_are_bytes_and_carets_are_characters(source: list[str]) -> None:
    line = 'y = {"größe": größe}\n'
    source.append(line)
    start = len('y = {"größe": '.encode())
    shown = render("what", [Label(at(1, start, start + len("größe".encode())))], None).splitlines()
    assert shown[-1] == "  |               ^^^^^"


def test_tabs_stay_tabs(source: list[str]) -> None:
    source.append("\treturn x\n")
    assert render("what", [Label(at(1, 8, 9))], None).splitlines()[-1] == "  | \t       ^"


def test_several_lines(source: list[str]) -> None:
    source.extend(["f(a,\n", "  b)\n"])
    assert render("what", [Label(at(1, 0, 4, 2))], None).splitlines()[-2:] == ["1 | f(a,", "  | ^^^^"]


def test_no_columns(source: list[str]) -> None:
    source.append("y = x\n")
    assert render("what", [Label(at(1, 0, 0), "here")], None).splitlines()[-1] == "  |  here"


def test_a_file_that_cannot_be_read() -> None:
    place = Span("nowhere.py", 3, 0, 3, 5, "f")
    assert render("what", [Label(place)], "help") == "what\n  --> nowhere.py:3:1 in f\n  = help: help"


def test_two_marks_on_one_line(source: list[str]) -> None:
    source.append("total = first + second\n")
    labels = [Label(at(1, 16, 22), "int64"), Label(at(1, 8, 13), "float32")]
    assert render("what", labels, None).splitlines()[-3:] == [
        "1 | total = first + second",
        "  |                 ^^^^^^ int64",
        "  |         ----- float32",
    ]
    without_words = [Label(at(1, 16, 22), "int64"), Label(at(1, 8, 13))]
    assert render("what", without_words, None).splitlines()[-1] == "  |         -----   ^^^^^^ int64"


def test_two_files(source: list[str]) -> None:
    source.append("y = x\n")
    labels = [Label(at(1, 4, 5)), Label(Span("other.py", 10, 0, 10, 1, "g"), "made here")]
    assert "   ::: other.py:10" in render("what", labels, None).splitlines()


def test_long_lines_are_cut_around_the_mark(source: list[str]) -> None:
    source.append("x = [" + "1, " * 200 + "wrong]\n")
    start = source[0].index("wrong")
    line, marks = render("what", [Label(at(1, start, start + 5), "here")], None).splitlines()[-2:]
    assert len(line) < 180
    assert line[marks.index("^") : marks.index("^") + 5] == "wrong"
    assert marks.endswith("^^^^^ here")


def test_line_numbers_are_aligned(source: list[str]) -> None:
    source.extend(["a\n"] * 12)
    shown = render("what", [Label(at(12, 0, 1)), Label(at(3, 0, 1), "before")], None).splitlines()
    assert shown[2:] == ["12 | a", "   | ^", " 3 | a", "   | - before"]


@pytest.mark.parametrize(
    ("name", "known", "suggestion"),
    [
        ("softmax", ["Softmax", "Softplus"], "did you mean 'Softmax'?"),
        ("reshpe", ["reshape", "shape"], "did you mean 'reshape' or 'shape'?"),
        ("nothing", ["Relu"], None),
        ("", ["Relu"], None),
    ],
)
def test_suggestions(name: str, known: list[str], suggestion: str | None) -> None:
    assert did_you_mean(name, known) == suggestion


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("np", "add the import: import numpy as np"),
        ("FLOAT", "add the import: from onnxsmith import FLOAT"),
        ("math", "add the import: import math"),
        ("wieght", "did you mean 'weight'?"),
        ("lenn", "did you mean 'len'?"),
        ("ofset", None),
    ],
)
def test_undefined_names(name: str, suggestion: str | None) -> None:
    assert undefined_name_help(name, ["weight", *dir(__builtins__)]) == suggestion


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_path(str(tmp_path / "a" / "b.py")) == os.path.join("a", "b.py")
    assert display_path(str(tmp_path.parent / "b.py")) == str(tmp_path.parent / "b.py")
    assert display_path("b.py") == "b.py"


@pytest.mark.parametrize(
    ("text", "argument", "found"),
    [
        ("op.Add(x, y)", 1, "y"),
        ("op.Softmax(x, axis=1)", "axis", "axis=1"),
        ("x + y", 1, "y"),
        ("x < y", 0, "x"),
        ("op.Add(*both)", 0, None),
        ("op.Add(x)", 1, None),
        ("x", 0, None),
        ("f(\n    a,\n    b,\n)", 1, "b"),
    ],
)
def test_arguments(source: list[str], text: str, argument: int | str, found: str | None) -> None:
    lines = f"value = {text}\n".splitlines(keepends=True)
    source.extend(lines)
    end = len(lines[-1].rstrip("\n"))
    span = argument_span(Span(FILE, 1, len("value = "), len(lines), end, "f"), argument)
    assert (None if span is None else text_of(span)) == found
