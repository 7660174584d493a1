"""What is known of a statement from one pass over its tree is what a walk for each question would find."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith.scripting.analysis import facts
from onnxsmith.scripting.analysis.facts import Facts, FactTable, appended_name, names_in
from onnxsmith.scripting.analysis.kinds import KINDS
from onnxsmith.scripting.source.trees import walk
from tests.scripting import snippets

FILES = sorted(Path(inspect.getfile(snippets)).parent.glob("*.py"))
FILES += sorted(Path(inspect.getfile(onnxsmith)).parent.glob("torch/library/**/*.py"))[:10]

CALLS = """
y = op.Add(x, 1.0)
y = op.Add(x, x, axis=0, name=n)
op = op.Add(x)
y = op.Add()
"""
NO_CALLS = """
y = x.dtype(x)
y = op.Add(x, -1.0)
y = op.Add(*x)
y = op.Add(x, **options)
y = z = op.Add(x)
y, z = op.Split(x)
y = op.Add(op.Add(x))
y = add(x)
y: int = op.Add(x)
y = a.op.Add(x)
op.Add(x)
"""


def functions() -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.AnnAssign):
                node.annotation = ast.Constant("")  # of a variable in a function, which is not evaluated
            elif isinstance(node, ast.FunctionDef):
                yield f"{file.stem}:{node.name}", node.body


FUNCTIONS = dict(functions())


def inside(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for each in statements:
        yield each
        kind = KINDS.get(type(each).__name__)
        for block in () if kind is None else kind.blocks(each):
            yield from inside(block)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_are_those_of_the_tree(name: str) -> None:
    body = FUNCTIONS[name]
    table = FactTable(body)
    assert table.names(body) == names_in(body)
    for each in inside(body):
        assert table.names([each]) == names_in([each])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_appending_statement_is_missed(name: str) -> None:
    body = FUNCTIONS[name]
    nodes = [each for statement in body for each in walk(statement)]
    appends = any(isinstance(each, ast.Expr) and appended_name(each.value) for each in nodes)
    assert FactTable(body).may_append or not appends


def scanned(statement: ast.stmt, monkeypatch: pytest.MonkeyPatch) -> Facts:
    with monkeypatch.context() as patch:
        patch.setattr(facts, "_call_of_names", lambda _: None)
        return FactTable([statement]).of[id(statement)]


@pytest.mark.parametrize("text", CALLS.split("\n")[1:-1])
def test_a_call_of_an_operator_is_known_without_a_scan(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (statement,) = ast.parse(text).body
    found = FactTable([statement]).of[id(statement)]
    expected = scanned(statement, monkeypatch)
    assert found.is_call
    assert not expected.is_call
    assert set(found.reads) == set(expected.reads)
    assert found._replace(reads=(), is_call=False) == expected._replace(reads=())


@pytest.mark.parametrize("text", NO_CALLS.split("\n")[1:-1])
def test_other_statements_are_scanned(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (statement,) = ast.parse(text).body
    assert FactTable([statement]).of[id(statement)] == scanned(statement, monkeypatch)
