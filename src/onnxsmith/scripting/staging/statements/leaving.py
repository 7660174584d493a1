"""Statements that leave a block in the middle: `return`, `break`, `continue`, and `raise`, which ends staging."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import nullcontext
from typing import cast

from onnxsmith.core.shown_text import showing
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import UnsupportedSyntaxError
from onnxsmith.scripting.analysis.kinds import KINDS, FlowQuestions, Jumps, Names, Root, Targets
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.caught import as_raised, is_in_try
from onnxsmith.scripting.staging.jumps import BREAK, CONTINUE, Jump, Leaf, Side, Stager
from onnxsmith.scripting.staging.raised import PathEnded, open_raises
from onnxsmith.scripting.staging.statement_kind import PlainKind, StatementKind
from onnxsmith.scripting.staging.truth import asked, is_symbolic, truth


class _Leaving(StatementKind):
    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        return True


class Returning(_Leaving):
    """`return value`"""

    def jumps(self, statement: ast.stmt, flow: FlowQuestions) -> Jumps:
        return Jumps(returns=True)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        return frozenset(flow.reads(statement))

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.Return)
        value = statement.value
        return follow(Jump("return", None if value is None else stager.frame.evaluate(value)))


class Breaking(_Leaving):
    """`break`"""

    def jumps(self, statement: ast.stmt, flow: FlowQuestions) -> Jumps:
        return Jumps(breaks=True)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        return targets.breaks

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        return follow(BREAK)


class Continuing(_Leaving):
    """`continue`"""

    def jumps(self, statement: ast.stmt, flow: FlowQuestions) -> Jumps:
        return Jumps(continues=True)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        return targets.continues

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        return follow(CONTINUE)


class Raising(PlainKind):
    """`raise error`: where it is certain that it is reached, making the model fails with the error."""

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        return True

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        _speaks_for_callee = True
        assert isinstance(statement, ast.Raise)
        frame, raises = stager.frame, open_raises()
        if raises is not None and current_graph().depth > raises.depth:
            raises.note(self._error(stager, statement), frame.span(statement))
            raise PathEnded
        if current_graph().depth > frame.depth:
            raise UnsupportedSyntaxError(
                "a model cannot raise an error, and only the model knows whether this line is reached",
                help="return a value that tells, or check before the model runs",
            ).locate(frame.span(statement))
        if statement.exc is None:
            raise UnsupportedSyntaxError("there is no error to raise again").locate(frame.span(statement))
        # A handler of the code could go on with the message; nobody else has it but people.
        with nullcontext() if is_in_try() else showing():
            error = frame.evaluate(statement.exc)
        raise cast(BaseException, error)

    def _error(self, stager: Stager, statement: ast.Raise) -> BaseException:
        """The error of a path that only the model knows to be taken; its text may name what the model alone knows."""
        frame = stager.frame
        if statement.exc is None:
            raise UnsupportedSyntaxError("there is no error to raise again").locate(frame.span(statement))
        return as_raised(made_error(stager, statement.exc), frame.span(statement))


def made_error(stager: Stager, error: ast.expr) -> BaseException:
    """The error of `raise error`; where its text cannot be made of what only the model knows, as it is written."""
    with showing():
        found = _made(stager, error)
    return cast("type[BaseException]", found)() if isinstance(found, type) else cast(BaseException, found)


def _made(stager: Stager, error: ast.expr) -> object:
    try:
        return stager.frame.evaluate(error)
    except Exception:  # the message may need values that only the model has; then its text stands for it
        kind: object = stager.frame.evaluate(error.func) if isinstance(error, ast.Call) else None
        if not isinstance(error, ast.Call) or not isinstance(kind, type) or not issubclass(kind, Exception):
            raise
        return kind(", ".join(map(ast.unparse, error.args)))


# -- Statements that leave the model as it is: `assert`, which the eager run checks, and `pass` --


class Assertion(PlainKind):
    """`assert test, message`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Assert)
        yield Root(statement.test, is_test=True)
        if statement.msg is not None:
            yield Root(statement.msg)

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        _speaks_for_callee = True
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


class Nothing(PlainKind):
    """`pass`, and `nonlocal n`, which says something of names alone."""

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        """There is nothing to do."""


KINDS["Return"] = Returning()
KINDS["Break"] = Breaking()
KINDS["Continue"] = Continuing()
KINDS["Raise"] = Raising()
KINDS["Assert"] = Assertion()
KINDS["Pass"] = KINDS["Nonlocal"] = Nothing()
