"""Statements that bind variables, or only evaluate an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from onnxsmith.scripting.analysis.kinds import (
    FlowQuestions,
    Names,
    Root,
    Targets,
    names_bound,
    target_roots,
)
from onnxsmith.scripting.staging import growing
from onnxsmith.scripting.staging.assignment import assign, assign_augmented, delete_element
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import PlainKind, statement_kind


@statement_kind(ast.Assign)
class Assignment(PlainKind):
    """`a = b = value`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Assign)
        for target in statement.targets:
            yield from target_roots(target)
        yield Root(statement.value)

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        assert isinstance(statement, ast.Assign)
        return [name for target in statement.targets for name in names_bound(target)]

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Assign)
        result = stager.frame.evaluate_for(statement.value, statement.targets)
        for target in statement.targets:
            assign(stager, target, result)


@statement_kind(ast.AnnAssign)
class AnnotatedAssignment(PlainKind):
    """`a: FLOAT = value`; without a value it only says something to checkers."""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.AnnAssign)
        yield from target_roots(statement.target)
        if statement.value is not None:
            yield Root(statement.value)

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        assert isinstance(statement, ast.AnnAssign)
        return () if statement.value is None else names_bound(statement.target)

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.AnnAssign)
        if statement.value is not None:
            assign(stager, statement.target, stager.frame.evaluate(statement.value))


@statement_kind(ast.AugAssign)
class AugmentedAssignment(PlainKind):
    """`a += value`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.AugAssign)
        yield from target_roots(statement.target)
        yield Root(statement.value)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.AugAssign)
        return live.union(names_bound(statement.target), flow.reads(statement))  # it reads what it binds

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.AugAssign)
        assign_augmented(stager, statement)


@statement_kind(ast.Expr)
class Expression(PlainKind):
    """An expression for what it does; a text is a comment."""

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Expr)
        value = statement.value
        if not isinstance(value, ast.Constant) and not growing.append(stager, value):
            stager.frame.evaluate(value)


@statement_kind(ast.Delete)
class Deletion(PlainKind):
    """`del a`, `del a[0]`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Delete)
        for target in statement.targets:
            if isinstance(target, ast.Subscript):
                yield from target_roots(target)

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Delete)
        for target in statement.targets:
            if isinstance(target, ast.Subscript):
                delete_element(stager, target)
            else:
                assert isinstance(target, ast.Name)  # the subset check has seen to it
                stager.frame.delete(target.id, target)
