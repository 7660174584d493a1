"""The statements of a function in the order of the source: what stands inside one, behind one, and in which loop."""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

#: Statements without others inside, which most are.
_SIMPLE: frozenset[type[ast.stmt]] = frozenset(
    [ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue]
)


class StatementOrder:
    """All statements of a function, those inside others and in inner functions included; each is looked at once."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._all: list[ast.stmt] = []
        #: Positions of a statement and of the end of what is inside it.
        self._extent: dict[int, tuple[int, int]] = {}
        self._loops: dict[int, ast.stmt] = {}
        self._add(body, None)
        self._by_line = sorted(self._all, key=lambda each: each.lineno)
        self._lines = [each.lineno for each in self._by_line]
        #: The last line with a statement that may change something in place.
        self._last_store = max(
            (each.lineno for each in self._all if stores(each) or any(given_away(each))), default=0
        )

    def _add(self, statements: Iterable[ast.stmt], loop: ast.stmt | None) -> None:
        for each in statements:
            around = each if loop is None and isinstance(each, ast.For | ast.While) else loop
            start = len(self._all)
            self._all.append(each)
            for block in _blocks(each):
                self._add(block, around)
            self._extent[id(each)] = start, len(self._all)
            if around is not None:
                self._loops[id(each)] = around

    def all(self) -> Sequence[ast.stmt]:
        """Every statement."""
        return self._all

    def inside(self, statement: ast.stmt) -> Sequence[ast.stmt]:
        """A statement and those inside it."""
        extent = self._extent.get(id(statement))
        if extent is None:  # made by a rewriting, and not of the source
            return list(statements_in([statement]))
        return self._all[extent[0] : extent[1]]

    def outermost_loop(self, statement: ast.stmt) -> ast.stmt:
        """The outermost loop that a statement is or stands in; the statement itself where there is none."""
        return self._loops.get(id(statement), statement)

    def since(self, line: int) -> Sequence[ast.stmt]:
        """The statements that begin at a line or behind it."""
        return self._by_line[bisect_left(self._lines, line) :]

    def stores_since(self, line: int) -> bool:
        """True if a statement at a line or behind it may change something in place."""
        return self._last_store >= line


def statements_in(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and those inside them; expressions are not entered, which hold none."""
    waiting = [iter(body)]
    while waiting:
        for each in waiting[-1]:
            yield each
            if each.__class__ not in _SIMPLE:
                waiting.append(iter([inner for block in _blocks(each) for inner in block]))
                break
        else:
            waiting.pop()


def stores(node: ast.stmt) -> Sequence[ast.expr]:
    """The targets of a statement that may be changed in place."""
    if isinstance(node, ast.Assign):
        return [each for each in node.targets if isinstance(each, ast.Subscript)]
    return [node.target] if isinstance(node, ast.AugAssign) else []


def given_away(node: ast.stmt) -> Iterator[ast.Call]:
    """The calls in a statement's own expressions that give a variable, or a part of one, to a helper.

    Built-in functions are none, and what stands behind a name of a module is mostly an operator, or of numpy's.
    """
    heads = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    for each in (inner for head in heads for inner in ast.walk(head)):
        if isinstance(each, ast.Call) and not _is_builtin(each.func):
            given = [*each.args, *(keyword.value for keyword in each.keywords)]
            if any(isinstance(part, ast.Name | ast.Subscript | ast.Attribute) for part in given):
                yield each


def _is_builtin(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.value.id in ("np", "numpy", "op", "math")
    return isinstance(function, ast.Name) and hasattr(builtins, function.id)


def _blocks(statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.With() | ast.AsyncWith():
            yield statement.body
        case ast.For() | ast.AsyncFor() | ast.While() | ast.If():
            yield statement.body
            yield statement.orelse
        case ast.Try() | ast.TryStar():
            yield statement.body
            for handler in statement.handlers:
                yield handler.body
            yield statement.orelse
            yield statement.finalbody
        case ast.Match():
            for case in statement.cases:
                yield case.body
        case _:
            pass
