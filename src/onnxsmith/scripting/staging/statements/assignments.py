"""Statements that bind variables, or only evaluate an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, cast

from onnxsmith.core.user_values import Opaque
from onnxsmith.scripting.analysis.kinds import (
    KINDS,
    FlowQuestions,
    Names,
    Root,
    Targets,
    names_bound,
    target_roots,
)
from onnxsmith.scripting.analysis.names import assigned_names, is_generator
from onnxsmith.scripting.staging import appended_lists
from onnxsmith.scripting.staging.assignment import assign, assign_augmented, delete_element
from onnxsmith.scripting.staging.closures import StagedClosure
from onnxsmith.scripting.staging.jumps import Stager
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.statement_kind import PlainKind


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


class Expression(PlainKind):
    """An expression for what it does; a text is a comment."""

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.Expr)
        value = statement.value
        if not isinstance(value, ast.Constant) and not appended_lists.append(stager, value):
            stager.frame.evaluate(value)


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


# -- Statements that bind a name to something new: an inner function, an imported module --


class Definition(PlainKind):
    """`def inner(…): …`; its body is a function of its own."""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.FunctionDef)
        yield from map(Root, statement.decorator_list)
        if is_generator(statement):
            yield Root(statement)
            return
        yield from map(Root, statement.args.defaults)
        yield from (Root(each) for each in statement.args.kw_defaults if each is not None)

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        return assigned_names([statement])

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        assert isinstance(statement, ast.FunctionDef)
        # A generator runs when it is asked for a value, between other statements: that is for Python to do.
        is_yielding = is_generator(statement)
        function: Function = (
            cast(Function, stager.frame.evaluate(statement))
            if is_yielding
            else StagedClosure(stager.frame, statement)
        )
        for decorator in reversed(statement.decorator_list):
            function = cast(Function, stager.frame.evaluate(decorator))(function)
        stager.frame.assign(statement.name, cast(Opaque, function))


class Importing(PlainKind):
    """`import module`, `from module import name`"""

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        return assigned_names([statement])

    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        frame = stager.frame
        module = ast.fix_missing_locations(ast.Module([statement], []))
        code = compile(module, frame.analysis.file, "exec")
        bound: dict[str, Any] = {}
        exec(code, frame.globals, bound)  # the user's import
        for name, value in bound.items():
            frame.assign(name, value)


KINDS["Assign"] = Assignment()
KINDS["AnnAssign"] = AnnotatedAssignment()
KINDS["AugAssign"] = AugmentedAssignment()
KINDS["Expr"] = Expression()
KINDS["Delete"] = Deletion()
KINDS["FunctionDef"] = Definition()
KINDS["Import"] = KINDS["ImportFrom"] = Importing()
