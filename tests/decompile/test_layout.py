"""Text that is broken at its brackets: what it says stays the same for Python, and a formatter leaves it as it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from onnxsmith.decompiling.layout import (
    INDENT,
    WIDTH,
    Binary,
    Bracketed,
    Keyed,
    Row,
    Text,
    call,
    dictionary,
    is_forced_open,
    lines,
    listed,
    string,
)

LONG = "a_name_that_is_long_enough_for_a_line"
MANY = [f"{LONG}_{k}" for k in range(5)]
TWO = MANY[:2]
SUBSCRIPT = Bracketed("weights[", (f'"{LONG * 2}"',), "]")

#: prefix, text, suffix, level, and the lines, without the margin of the level.
CASES: dict[str, tuple[str, Text, int, list[str]]] = {
    "short": ("x = ", call("f", ["a", Keyed("b=", "1")]), 1, ["x = f(a, b=1)"]),
    "arguments share a line": (
        "x = ",
        call("f", TWO),
        1,
        ["x = f(", f"    {TWO[0]}, {TWO[1]}", ")"],
    ),
    "arguments do not fit on one line": (
        "x = ",
        call("f", MANY),
        1,
        ["x = f(", *(f"    {each}," for each in MANY), ")"],
    ),
    "a list has one element a line": (
        "x = ",
        listed(TWO),
        2,
        ["x = [", f"    {TWO[0]},", f"    {TWO[1]},", "]"],
    ),
    "a tuple of one": ("x = ", Bracketed("(", ("a",), ")"), 0, ["x = (a,)"]),
    "an empty list": ("x = ", listed([]), 0, ["x = []"]),
    "a key keeps its value": (
        "",
        Keyed("key=", listed(TWO)),
        1,
        ["key=[", f"    {TWO[0]},", f"    {TWO[1]},", "]"],
    ),
    "a row becomes a tuple": (
        "return ",
        Row((*TWO, "c")),
        1,
        ["return (", f"    {TWO[0]},", f"    {TWO[1]},", "    c,", ")"],
    ),
    "an operation gets parentheses": (
        "result = ",
        Binary(TWO[0], "+", "b" * 36),
        1,
        ["result = (", f"    {TWO[0]} + {'b' * 36}", ")"],
    ),
    "a long operation is broken at its operator": (
        "x = ",
        Binary(LONG * 2, "+", LONG),
        1,
        ["x = (", f"    {LONG * 2}", f"    + {LONG}", ")"],
    ),
    "an operation with a list is broken in the list": (
        "x = ",
        Binary("a", "+", listed(TWO)),
        1,
        ["x = a + [", f"    {TWO[0]},", f"    {TWO[1]},", "]"],
    ),
    "a subscript has no comma": ("x = ", SUBSCRIPT, 1, ["x = weights[", f'    "{LONG * 2}"', "]"]),
    "open in any case": (
        "x = ",
        dictionary([('"a"', "1"), ('"b"', listed(["2"]))], is_open=True),
        0,
        ["x = {", '    "a": 1,', '    "b": [2],', "}"],
    ),
    "open inside": (
        "x = ",
        call("f", [Keyed("a=", dictionary([("1", "2")], is_open=True))]),
        0,
        ["x = f(", "    a={", "        1: 2,", "    },", ")"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lines(name: str) -> None:
    prefix, text, level, wanted = CASES[name]
    assert lines(prefix, text, "", level) == [INDENT * level + each for each in wanted]


def test_a_suffix_stands_at_the_end_and_counts() -> None:
    text = call("f", TWO)
    assert lines("", text, ":", 2)[-1] == "        ):"
    exact = "x" * (WIDTH - len("y = f()"))
    assert lines("y = ", call("f", [exact]), "", 0) == [f"y = f({exact})"]
    assert len(lines("y = ", call("f", [exact]), ",", 0)) == 3


def test_what_is_broken_means_the_same_and_stays() -> None:
    """Python reads the same from both, and ruff changes nothing."""
    program: list[str] = []
    for prefix, text, level, _ in CASES.values():
        start = prefix or "x = f("
        end = "" if prefix else ")"
        broken = lines(prefix, text, "", level)
        flat = f"{start}{text}{end}"
        whole = "\n".join([*(["def f():"] if start == "return " else []), *broken])
        if prefix and prefix != "return ":
            assert ast.dump(ast.parse(flat)) == ast.dump(ast.parse("\n".join(lines(prefix, text, "", 0))))
            program += lines(prefix, text, "", 0)
        assert whole
    source = "\n".join(program) + "\n"
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    options = ["format", "--isolated", "--line-length", str(WIDTH), "-"]
    found = subprocess.run([str(ruff), *options], input=source, capture_output=True, text=True, check=True)
    assert found.stdout == source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (Binary("a", "**", "b.c"), "a**b.c"),
        (Binary("-1", "**", "2.5"), "-1**2.5"),
        (Binary("f(a)", "**", "b"), "f(a) ** b"),
        (Binary("a", "**", "x[0]"), "a ** x[0]"),
        (Binary("a", "*", "b"), "a * b"),
        (Row(("a", "b")), "a, b"),
        (Bracketed("f(", ("a",), ")"), "f(a)"),
        (Bracketed("[", ("a",), "]"), "[a]"),
    ],
)
def test_on_one_line(text: Text, expected: str) -> None:
    assert str(text) == expected


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("a", False),
        (listed(["a"]), False),
        (dictionary([("a", "b")], is_open=True), True),
        (Keyed("k=", dictionary([], is_open=True)), True),
        (Keyed("k=", "a"), False),
        (call("f", ["a", dictionary([], is_open=True)]), True),
    ],
)
def test_a_part_that_is_open_opens_what_is_around_it(text: Text, is_open: bool) -> None:
    assert is_forced_open(text) == is_open


@pytest.mark.parametrize("value", ["a", 'a"b', "it's", "both ' and \" ", "''\"", "é\n\x00\\", "\ud800", ""])
def test_strings_are_read_as_they_were(value: str) -> None:
    text = string(value)
    assert ast.literal_eval(text) == value
    # Double quotes, unless single ones need fewer backslashes.
    assert text[0] == ("'" if value.count('"') > value.count("'") else '"')
