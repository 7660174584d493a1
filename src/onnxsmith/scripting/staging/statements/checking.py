"""Statements that leave the model as it is: `assert`, which the eager run checks, and `pass`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from onnxsmith.scripting.analysis.kinds import Root
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import PlainKind, statement_kind
from onnxsmith.scripting.staging.truth import asked, is_symbolic


@statement_kind(ast.Assert)
class Assertion(PlainKind):
    """`assert test, message`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Assert)
        yield Root(statement.test, is_test=True)
        if statement.msg is not None:
            yield Root(statement.msg)

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Assert)
        value = stager.frame.evaluate(statement.test)
        if is_symbolic(asked(value)) or value:
            return  # a model has no assertions; the eager run checks it
        message = () if statement.msg is None else (stager.frame.evaluate(statement.msg),)
        raise AssertionError(*message)


@statement_kind(ast.Pass, ast.Nonlocal)
class Nothing(PlainKind):
    """`pass`, and `nonlocal n`, which says something of names alone."""

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        """There is nothing to do."""
