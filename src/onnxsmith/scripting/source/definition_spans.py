"""Where the parts of a function's definition stand, for errors that are about them."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextvars import Token
from types import TracebackType

from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.source.function_source import FunctionNode, find_function, head_span, span_of
from onnxsmith.source import STATEMENT, Span


class located:
    """Within the block, what is made or goes wrong stands at `span`.

    A class, because a generator takes three times as long, and a conditional statement enters ten of them.
    """

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def __enter__(self) -> None:
        self._token: Token[Span | None] = STATEMENT.set(self._span)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        STATEMENT.reset(self._token)
        if isinstance(error, OnnxsmithError):
            error.locate(self._span)


class Places:
    """The spans of one function's definition; its syntax tree is looked for when the first is asked for."""

    def __init__(self, function: types.FunctionType, name: str) -> None:
        self._function = function
        self.file = function.__code__.co_filename
        self.name = name
        self._node: FunctionNode | None = None

    @property
    def node(self) -> FunctionNode:
        """The syntax tree of the function."""
        # No cached_property: its frame in the standard library would be taken for the user's.
        if self._node is None:
            self._node = find_function(self._function)
        return self._node

    @property
    def definition(self) -> Span:
        """`def name`"""
        return head_span(self.node, self.file, self.name)

    def parameter(self, name: str) -> Span:
        """A parameter with its annotation; the definition when there is none of that name."""
        found = self._argument(name)
        return self.definition if found is None else self._span(found)

    def annotation(self, name: str) -> Span:
        """The annotation of a parameter, or of what is returned."""
        if name == "return":
            node = self.node.returns if isinstance(self.node, ast.FunctionDef) else None
        else:
            argument = self._argument(name)
            node = None if argument is None else argument.annotation
        return self.parameter(name) if node is None else self._span(node)

    @property
    def returned(self) -> Span:
        """The place of the returned expression, where one statement returns; else of the definition."""
        if isinstance(self.node, ast.Lambda):
            return self._span(self.node.body)
        found = list(_returns(self.node.body))
        if len(found) != 1:
            return self.definition
        return self._span(found[0] if found[0].value is None else found[0].value)

    def _argument(self, name: str) -> ast.arg | None:
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return next((each for each in every if each.arg == name), None)

    def _span(self, node: ast.AST) -> Span:
        return span_of(node, self.file, self.name)


def _returns(statements: list[ast.stmt]) -> Iterator[ast.Return]:
    """The return statements of a function, without those of functions inside it."""
    for statement in statements:
        if isinstance(statement, ast.Return):
            yield statement
        elif not isinstance(statement, ast.FunctionDef):
            for name in ("body", "orelse"):
                yield from _returns(getattr(statement, name, []))
            for case in getattr(statement, "cases", []):
                yield from _returns(case.body)
