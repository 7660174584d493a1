"""The table of kinds of statements: who is in it, and what a function imports of it."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from onnxsmith.scripting.analysis.facts import FactTable
from onnxsmith.scripting.analysis.kinds import KINDS
from onnxsmith.scripting.staging.statement_kind import StatementKind

STATEMENTS = """
x = 1
x: int = 1
x += 1
f(x)
del x
def g(): pass
import math
from math import pi
if x: pass
match x:
    case 1: pass
for y in x: break
while x: continue
return x
raise x
assert x
pass
nonlocal x
try: pass
except E: pass
with x: pass
"""


def body(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


@pytest.mark.parametrize("statement", body(STATEMENTS), ids=ast.unparse)
def test_each_statement_of_a_script_has_a_kind(statement: ast.stmt) -> None:
    assert isinstance(KINDS.get(type(statement).__name__), StatementKind)


@pytest.mark.parametrize("text", ["class A: pass", "async def f(): pass", "global x"])
def test_a_statement_that_no_script_contains_has_none(text: str) -> None:
    assert KINDS.get(type(body(text)[0]).__name__) is None


LOADED = r"""
import ast, sys
from onnxsmith.scripting.analysis.facts import FactTable
for text in ("y = op.Add(x, 1)", "y = x if x else 1", "x += 1", "if x:\n    return x", "for y in x:\n    break"):
    FactTable(ast.parse(text).body)
    print(*(each for each in ("assignments", "branching", "leaving", "looping", "trying")
            if f"onnxsmith.scripting.staging.statements.{each}" in sys.modules))
"""


def test_facts_load_the_kinds_of_a_function_and_no_others() -> None:
    command = [sys.executable, "-c", LOADED]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == [
        "",
        "assignments",
        "assignments",
        "assignments branching leaving",
        "assignments branching leaving looping",
    ]


def test_kinds_that_facts_were_read_of_are_loaded() -> None:
    every = [each for each in body(STATEMENTS) if not isinstance(each, ast.Assign)]
    FactTable(every)
    assert all(KINDS.loaded(type(each).__name__) is not None for each in every)
