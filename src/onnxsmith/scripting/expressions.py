"""Expressions of a script as Python code of their own, run by Python itself.

Each expression of a statement becomes a small function of the variables it reads, compiled in the user's file and
at the user's positions: tracebacks, carets and debuggers point where the user wrote it. Only what Python decides by
truth value (`and`, `or`, `not`, `if … else`, chained comparisons), calls, and the walrus go through hooks, because
a tensor's truth value is not known yet.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from onnxsmith.scripting.flow import free_names

#: The parameter through which rewritten expressions reach their hooks.
HOOKS = "__onnxsmith__"
_COLLECT = "__onnxsmith_collect__"

N = TypeVar("N", bound=ast.AST)
Evaluate = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Site:
    """One compiled expression: where it is in the table, and which variables it is called with."""

    position: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpressionTable:
    """All expressions of one function, compiled at once."""

    code: types.CodeType
    sites: dict[int, Site]
    #: Keeps the trees alive whose ids are the keys above.
    roots: tuple[ast.AST, ...]

    def instantiate(self, global_names: dict[str, Any]) -> list[Evaluate]:
        """The functions of the table, with a function's own globals."""
        functions: list[Evaluate] = []

        def collect(function: Evaluate) -> None:
            functions.append(function)

        exec(self.code, global_names, {_COLLECT: collect})  # noqa: S102  # the user's own expressions, in their own module
        return functions


def compile_expressions(
    roots: Sequence[ast.AST], file: str, function_name: str, variables: Collection[str]
) -> ExpressionTable:
    """Compile expressions (and the patterns of match statements); `variables` are the names that are no globals."""
    sites: dict[int, Site] = {}
    definitions: list[ast.stmt] = []
    for root in roots:
        # A walrus binds while the expression runs, so its name is looked up then, by a hook.
        walrus = {each.target.id for each in ast.walk(root) if isinstance(each, ast.NamedExpr)}
        names = tuple(name for name in free_names(root) if name in variables and name not in walrus)
        sites[id(root)] = Site(len(definitions), names)
        body: list[ast.stmt]
        if isinstance(root, ast.Match):
            body = [_match_body(root)]
        else:
            assert isinstance(root, ast.expr)
            body = [_at(root, ast.Return(_without_slices(_Rewriter(walrus).visit(root))))]
        definitions.append(_definition(root, function_name, names, body))
    module = ast.Module(definitions, [])
    return ExpressionTable(compile(module, file, "exec", dont_inherit=True), sites, tuple(roots))


def _definition(root: ast.AST, name: str, names: Iterable[str], body: list[ast.stmt]) -> ast.stmt:
    parameters = [_at(root, ast.arg(each)) for each in (HOOKS, *names)]
    arguments = ast.arguments([], parameters, None, [], [], None, [])
    collect = _at(root, ast.Name(_COLLECT, ast.Load()))
    spelled = name if name.isidentifier() else "lambda_"
    return _at(root, ast.FunctionDef(spelled, arguments, body, [collect], None, None))


def _without_slices(index: ast.expr) -> ast.expr:
    """The index of `y[1:2] = v` as an expression: a slice is one only between brackets."""
    if isinstance(index, ast.Slice):
        parts = [each or _at(index, ast.Constant(None)) for each in (index.lower, index.upper, index.step)]
        return _at(index, ast.Call(_at(index, ast.Name("slice", ast.Load())), parts, []))
    if isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in index.elts):
        return _at(index, ast.Tuple([_without_slices(each) for each in index.elts], ast.Load()))
    return index


def _match_body(statement: ast.Match) -> ast.stmt:
    """The statement with each case's body replaced by: which case it is, and what its pattern bound."""
    cases: list[ast.match_case] = []
    for position, case in enumerate(statement.cases):
        bound = [name for name in _pattern_names(case.pattern)]
        values = [_at(case.pattern, ast.Name(name, ast.Load())) for name in bound]
        keys: list[ast.expr | None] = [_at(case.pattern, ast.Constant(name)) for name in bound]
        result = ast.Tuple(
            [_at(case.pattern, ast.Constant(position)), _at(case.pattern, ast.Dict(keys, list(values)))], ast.Load()
        )
        guard = _Rewriter(set()).visit(case.guard) if case.guard is not None else None
        returned = _at(case.pattern, ast.Return(_at(case.pattern, result)))
        cases.append(ast.match_case(case.pattern, guard, [returned]))
    subject = _Rewriter(set()).visit(statement.subject)
    return _at(statement, ast.Match(subject, cases))


def _pattern_names(pattern: ast.pattern) -> Iterator[str]:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            yield node.rest


def _at(place: ast.AST, node: N) -> N:
    """Give a new node the position of the one it stands for."""
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        value = getattr(place, name, None)
        if value is not None:
            setattr(node, name, value)
    return node


_COMPARE_HOOKS = {ast.In: "contains", ast.NotIn: "lacks", ast.Is: "same", ast.IsNot: "different"}


class _Rewriter(ast.NodeTransformer):
    """Sends through hooks what Python would decide by truth value, and calls."""

    def __init__(self, walrus_names: set[str]) -> None:
        self._walrus_names = walrus_names

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        name = "both" if isinstance(node.op, ast.And) else "either"
        return self._hook(node, name, [self._delayed(self.visit(each)) for each in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self._hook(node, "negated", [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return self._hook(node, "choose", [node.test, self._delayed(node.body), self._delayed(node.orelse)])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            name = _COMPARE_HOOKS.get(type(node.ops[0]))
            return node if name is None else self._hook(node, name, [node.left, node.comparators[0]])
        # a < b < c: each operand is evaluated once, from the left, as Python does.
        operators = _at(node, ast.Tuple([_at(node, ast.Constant(type(op).__name__)) for op in node.ops], ast.Load()))
        later = [self._delayed(each) for each in node.comparators]
        return self._hook(node, "chained", [operators, node.left, *later])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.func = self._hook(node.func, "callee", [node.func])
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        value = self.visit(node.value)
        return self._hook(node, "bind", [_at(node, ast.Constant(node.target.id)), value])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._walrus_names and isinstance(node.ctx, ast.Load):
            return self._hook(node, "load", [_at(node, ast.Constant(node.id))])
        return node

    def _hook(self, place: ast.AST, name: str, arguments: list[ast.expr]) -> ast.expr:
        hooks = _at(place, ast.Name(HOOKS, ast.Load()))
        return _at(place, ast.Call(_at(place, ast.Attribute(hooks, name, ast.Load())), arguments, []))

    @staticmethod
    def _delayed(body: ast.expr) -> ast.expr:
        return _at(body, ast.Lambda(ast.arguments([], [], None, [], [], None, []), body))
