"""Statements that bind a name to something new: an inner function, an imported module."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, cast

from onnxsmith.core.user_values import Opaque
from onnxsmith.scripting.analysis.kinds import Root
from onnxsmith.scripting.analysis.names import assigned_names, is_generator
from onnxsmith.scripting.staging.closures import StagedClosure
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import PlainKind, statement_kind


@statement_kind(ast.FunctionDef)
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


@statement_kind(ast.Import, ast.ImportFrom)
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
