"""Statements that leave the model as it is: `assert`, which the eager run checks, and `pass`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from onnxsmith.core.shown_text import showing
from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.kinds import Root
from onnxsmith.scripting.source.location import located
from onnxsmith.scripting.staging.caught import SPEAKING, as_raised
from onnxsmith.scripting.staging.raised import open_raises
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import PlainKind, statement_kind
from onnxsmith.scripting.staging.truth import asked, is_symbolic, truth


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
        frame, raises = stager.frame, open_raises()
        value = frame.evaluate(statement.test)
        tested = asked(value)
        if is_symbolic(tested):
            if raises is not None:
                with showing(), located(span := frame.span(statement)):
                    error = as_raised(AssertionError(*self._message(stager, statement)), span)
                    raises.note_unless(truth(tested), error, span)
            return  # else a model has no assertions; the eager run checks it
        if not value:
            raise AssertionError(*self._message(stager, statement))

    def _message(self, stager: Stager, statement: ast.Assert) -> tuple[UserValue, ...]:
        return () if statement.msg is None else (stager.frame.evaluate(statement.msg),)


SPEAKING.add(Assertion.perform.__code__)


@statement_kind(ast.Pass, ast.Nonlocal)
class Nothing(PlainKind):
    """`pass`, and `nonlocal n`, which says something of names alone."""

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        """There is nothing to do."""
