"""Dialects compose: they are asked in order, and what one leaves open is the next one's."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.staging.dialect import SCRIPTS, Dialect, Dialects


class Table:
    """Named columns, of a library that neither scripts nor numpy know."""

    def __init__(self, **columns: Any) -> None:
        self.columns = columns

    def __getitem__(self, name: str) -> Any:
        raise AssertionError("the dialect indexes it")


def total(table: Table) -> Any:
    raise AssertionError(f"the dialect has another function for {table}")


def largest(values: Any) -> Any:
    """Another one that the dialect has a staged function for."""
    raise AssertionError(values)


def _largest(values: Any) -> Any:
    best = values[0]
    for each in values:
        if each > best:
            best = each
    return best


class TableDialect(Dialect):
    """Tables are indexed by names, and two functions have another meaning; all else is left to others."""

    def callee(self, function: Any, usual: Any, calls: Any) -> Any:
        if function is total:
            return lambda table: sum(each.sum() for each in table.columns.values())
        return calls.staged(_largest) if function is largest else None

    def container(self, value: Any) -> Any:
        return value.columns if isinstance(value, Table) else None


def scaled(table: Table, x: Any) -> Any:
    centred = table["a"] * x - np.mean(x)  # the first dialect's, then numpy's
    if centred.sum() > 0:
        centred = np.sqrt(np.abs(centred))
    return centred + total(table) + np.array([largest(each) for each in [x, table["b"]]]).sum()


def _expected(table: dict[str, Any], x: Any) -> Any:
    centred = table["a"] * x - np.mean(x)
    if centred.sum() > 0:
        centred = np.sqrt(np.abs(centred))
    return centred + table["a"].sum() + table["b"].sum() + x.max() + table["b"].max()


def test_code_on_tables_is_numpy_code_as_well() -> None:
    known = {"a": np.array([1.0, -2.0, 3.0]), "b": np.array([0.5, 4.0])}

    def staged(x: Any) -> Any:
        table = Table(a=xp.asarray(known["a"]), b=xp.asarray(known["b"]))
        return xp.stage(scaled, table, xp.asarray(x), dialects=[TableDialect()]).tensor

    model = trace(staged, DOUBLE["N"])
    for x in (np.array([1.0, 2.0, 4.0]), np.array([5.0, 6.0, -7.0])):
        np.testing.assert_allclose(model(x), _expected(known, x))


def test_numpys_dialect_alone_does_not_know_tables() -> None:
    table = Table(a=xp.asarray([1.0]), b=xp.asarray([1.0]))
    with pytest.raises((AssertionError, OnnxsmithError)):
        trace(lambda x: xp.stage(scaled, table, xp.asarray(x)).tensor, DOUBLE["N"])


def test_scripts_have_no_dialect() -> None:
    assert (SCRIPTS.syntax, SCRIPTS.stages_all, SCRIPTS.is_open(1)) == (frozenset(), False, False)
    assert SCRIPTS.callee(total, None, None) is None
    assert SCRIPTS.is_staged(total)
    assert not SCRIPTS.is_staged(np.sum.__wrapped__)

    @script
    def doubled(x: DOUBLE["N"]):
        return op.Add(x, x)

    np.testing.assert_array_equal(doubled(np.array([1.0])), [2.0])


class Answering(Dialect):
    """Answers every question with a word of its own."""

    def __init__(self, word: str, *, answers: bool = True) -> None:
        self.word = word
        self.answers = answers
        self.syntax = frozenset[type[ast.AST]]([ast.Try if word == "a" else ast.Attribute])
        self.stages_all = word == "b"

    def _answer(self) -> Any:
        return self.word if self.answers else None

    def callee(self, function: Any, usual: Any, calls: Any) -> Any:
        return self._answer()

    def container(self, value: Any) -> Any:
        return self._answer()

    def grown(self, items: Any, taken: Any) -> Any:
        return self._answer()

    def is_staged(self, function: types.FunctionType) -> bool | None:
        return self.word == "b" if self.answers else None

    def is_open(self, value: Any) -> bool:
        return value == self.word

    def result(self, value: Any) -> Any:
        return value + self.word

    yielded = result


def test_the_first_answer_stops_and_others_go_together() -> None:
    both = Dialects(Answering("a"), Answering("b"))
    assert [both.callee(total, None, both), both.container([]), both.grown([], [])] == ["a", "a", "a"]
    assert not both.is_staged(total)
    assert both.syntax == {ast.Try, ast.Attribute}
    assert both.stages_all
    assert [both.is_open(each) for each in "abc"] == [True, True, False]
    assert (both.result("x"), both.yielded("x")) == ("xab", "xab")


def test_the_next_is_asked_where_one_has_no_answer() -> None:
    both = Dialects(Answering("a", answers=False), Answering("b"))
    assert [both.callee(total, None, both), both.container([]), both.grown([], [])] == ["b", "b", "b"]
    assert both.is_staged(total)
    neither = Dialects(Answering("a", answers=False), Dialect())
    assert neither.callee(total, None, neither) is None
    assert neither.is_staged(total)


@pytest.mark.parametrize("dialects", ["text", [3], 4])
def test_what_is_no_dialect_is_refused(dialects: Any) -> None:
    with pytest.raises(OnnxsmithError, match="dialects are a list of them"):
        xp.stage(lambda x: x, xp.ones(2), dialects=dialects)
