"""`try`: caught is what is raised while the model is made; what only a run would raise is refused, or ends the run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.kinds import (
    KINDS,
    FlowQuestions,
    Names,
    Root,
    Targets,
    names_bound,
    target_roots,
)
from onnxsmith.scripting.staging.assignment import assign
from onnxsmith.scripting.staging.branches import dispatch, recording
from onnxsmith.scripting.staging.caught import Caught, Handler, catching, is_of_user, refuse_conditional
from onnxsmith.scripting.staging.jumps import NEXT, NOTHING, Leaf, Side, Stager
from onnxsmith.scripting.staging.statement_kind import StatementKind
from onnxsmith.scripting.staging.statements.leaving import made_error

#: What arithmetic raises for values, where a model gives infinity, NaN or whatever is left.
_OF_VALUES = (ArithmeticError,)


class Trying(StatementKind):
    """`try: … except E as error: … else: … finally: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Try)
        for handler in statement.handlers:
            if handler.type is not None:
                yield Root(handler.type)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.Try)
        return (
            statement.body,
            *(each.body for each in statement.handlers),
            statement.orelse,
            statement.finalbody,
        )

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.Try)
        if not flow.can_fall_through(statement.finalbody):
            return True
        ways = [[*statement.body, *statement.orelse], *(each.body for each in statement.handlers)]
        return not any(flow.can_fall_through(each) for each in ways)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.Try)
        after = flow.live_into(statement.finalbody, live, targets)
        ways = [flow.live_into(each.body, after, targets) for each in statement.handlers]
        otherwise = flow.live_into(statement.orelse, after, targets)
        inside = flow.live_into(statement.body, otherwise.union(*ways), targets)
        return inside.union(*ways, flow.reads(statement))

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.Try)
        return _ended(stager, statement, follow, lambda leaf: self._run(stager, statement, leaf))

    def _run(self, stager: Stager, statement: ast.Try, leaf: Leaf) -> Side:
        flow = stager.flow
        has_jump = flow.block_jumps(statement.body) or flow.block_jumps(statement.finalbody)
        if has_jump and (statement.orelse or statement.finalbody):
            raise UnsupportedSyntaxError(
                "a 'try' with 'else' or 'finally' cannot be left by a jump",
                help="assign a variable, and return it later",
            ).locate(stager.frame.span(statement))
        side = self._tried(stager, statement, leaf)
        stager.run(statement.finalbody, NOTHING)
        return side

    def _tried(self, stager: Stager, statement: ast.Try, leaf: Leaf) -> Side:
        handlers = [(each, self._caught(stager, each)) for each in statement.handlers]
        try:
            with ExitStack() as stack:
                if handlers:
                    clauses = [
                        Handler(kinds, self._raised_by(stager, each, statement)) for each, kinds in handlers
                    ]
                    stack.enter_context(catching(Caught(tuple(clauses))))
                if not statement.orelse:
                    return stager.run(statement.body, leaf)
                stager.run(statement.body, NOTHING)
        except OnnxsmithError:
            raise  # no mistake of the code, but what a model cannot do
        except Exception as error:
            handler = next((each for each, kinds in handlers if isinstance(error, kinds)), None)
            if handler is None or not is_of_user(error):
                raise
            refuse_conditional(error, "a 'try'")
            if handler.name is not None:
                stager.assign_name(handler.name, cast("str", error))
            return stager.run(handler.body, leaf)
        return stager.run(statement.orelse, leaf)

    def _raised_by(
        self, stager: Stager, handler: ast.ExceptHandler, statement: ast.Try
    ) -> Callable[[BaseException], BaseException] | None:
        """A function that makes the error of a clause that only raises; None for all other clauses."""
        match handler.body:
            case [ast.Raise(exc=None)]:
                return lambda error: error
            case [ast.Raise(exc=ast.expr() as made)]:
                read = {each.id for each in ast.walk(made) if isinstance(each, ast.Name)}
                if read & set(stager.flow.assigned(statement.body)):
                    return None
                return lambda error: _made_of(stager, made, handler.name, error)
            case _:
                return None

    def _caught(self, stager: Stager, handler: ast.ExceptHandler) -> tuple[type[BaseException], ...]:
        """The classes of errors that a handler catches."""
        if handler.type is None:
            return (BaseException,)
        found: object = stager.frame.evaluate(handler.type)
        kinds = cast("tuple[type[BaseException], ...]", found if isinstance(found, tuple) else (found,))
        if any(issubclass(each, _OF_VALUES) for each in kinds):
            raise UnsupportedSyntaxError(
                "this catches an error of arithmetic, and a model computes on where Python raises one",
                help="ask for the value before: if b == 0: …",
            ).locate(stager.frame.span(handler.type))
        return kinds


def _made_of(stager: Stager, made: ast.expr, name: str | None, error: BaseException) -> BaseException:
    """The error that `raise made` raises where a name stands for another error."""
    if name is None:
        return made_error(stager, made)
    variables = stager.frame.variables
    before = {name: variables[name]} if name in variables else {}
    stager.assign_name(name, cast("str", error))
    try:
        return made_error(stager, made)
    finally:
        variables.pop(name, None)
        variables.update(before)


# -- `with`: contexts are entered and left while the model is made, on paths that a tensor decides as well
# --


class Within(StatementKind):
    """`with context as name: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.With)
        for item in statement.items:
            yield Root(item.context_expr)
            if item.optional_vars is not None:
                yield from target_roots(item.optional_vars)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.With)
        return (statement.body,)

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.With)
        return not flow.can_fall_through(statement.body)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.With)
        targets_of_items = [each.optional_vars for each in statement.items if each.optional_vars is not None]
        bound = [name for each in targets_of_items for name in names_bound(each)]
        inside = flow.live_into(statement.body, live, targets)
        return inside.difference(bound).union(flow.reads(statement))

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.With)
        return _ended(stager, statement, follow, lambda leaf: self._run(stager, statement, leaf))

    def _run(self, stager: Stager, statement: ast.With, leaf: Leaf) -> Side:
        raised: list[Exception] = []
        with ExitStack() as stack:
            for item in statement.items:
                held: object = stager.frame.evaluate(item.context_expr)
                if not hasattr(held, "__enter__"):
                    raise UnsupportedSyntaxError(
                        f"{described_type(type(held))} is no context manager, which 'with' needs"
                    ).locate(stager.frame.span(item.context_expr))
                context = cast("AbstractContextManager[UserValue]", held)
                value = stack.enter_context(context)
                if item.optional_vars is not None:
                    assign(stager, item.optional_vars, value)
            try:
                return stager.run(statement.body, leaf)
            except Exception as error:
                raised.append(error)
                raise
        (error,) = raised  # a context has caught it
        if isinstance(error, OnnxsmithError):
            raise error  # no mistake of the code, but what a model cannot do
        refuse_conditional(error, "a context")
        return leaf(NEXT)


def _ended(stager: Stager, statement: ast.stmt, follow: Leaf, run: Callable[[Leaf], Side]) -> Side:
    """Stage a statement whose handlers or contexts end before anything that follows it."""
    if not stager.flow.jumps(statement):
        run(NOTHING)
        return follow(NEXT)
    leaf = recording(stager, statement, stager.flow.assigned([statement]))  # a jump out becomes data first
    return dispatch(stager, run(leaf), follow, statement)


KINDS["Try"] = Trying()
KINDS["With"] = Within()
