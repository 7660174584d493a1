"""Is this in the language? Finds what a script cannot contain, all of it at once, before anything is staged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, cast

from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.names import (
    assigned_names,
    declared_nonlocal,
    is_generator,
    parameter_names,
)
from onnxsmith.scripting.source.function_source import FunctionNode, head_span, span_of
from onnxsmith.scripting.source.trees import children

#: Syntax -> (what it is, why not and what to write instead).
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: (
        "'try'",
        "a model cannot catch errors; check beforehand, or handle them where the model is called",
    ),
    ast.AsyncFunctionDef: ("an async function", "a model has nothing to wait for; write a plain function"),
    ast.AsyncFor: ("'async for'", "write a plain 'for'"),
    ast.AsyncWith: ("'async with'", "write a plain 'with'"),
    ast.Await: ("'await'", "a model has nothing to wait for"),
    ast.Global: ("'global'", "a model has no globals to assign; return the value"),
    ast.ClassDef: ("a class definition", "define the class outside the script"),
}
_REFUSED[ast.TryStar] = _REFUSED[ast.Try]

_YIELDS: dict[type[ast.AST], str] = {ast.Yield: "'yield'", ast.YieldFrom: "'yield from'"}

#: The nodes that are looked at closely, besides attributes that are assigned; without them nothing is unsupported.
MAY_BE_UNSUPPORTED: frozenset[type[ast.AST]] = frozenset(
    [*_REFUSED, *_YIELDS, ast.Nonlocal, ast.Delete, ast.ImportFrom]
)


#: Syntax that is refused in scripts, and that a dialect may allow: how it is staged decides then.
Syntax: TypeAlias = frozenset[type[ast.AST]]
NO_SYNTAX: Syntax = frozenset()


def find_unsupported(
    node: FunctionNode, file: str, name: str, allowed: Syntax = NO_SYNTAX
) -> list[OnnxsmithError]:
    """An error for everything in a function that ONNX cannot express, but what is allowed all the same."""
    return list(_Search(file, name, allowed).function(node, _NOTHING, is_inner=False))


_NOTHING: frozenset[str] = frozenset()


class _Search:
    """Goes through a function, and knows what may be assigned and yielded where it is."""

    def __init__(self, file: str, name: str, allowed: Syntax) -> None:
        self._file = file
        self._name = name
        self._allowed = allowed

    def function(
        self, node: FunctionNode, around: frozenset[str], *, is_inner: bool
    ) -> Iterator[OnnxsmithError]:
        """`around` are the variables of functions around it that it may assign."""
        declared = declared_nonlocal(node)
        is_yielding = is_inner and isinstance(node, ast.FunctionDef) and is_generator(node)
        if is_yielding:
            around = _NOTHING  # Python runs it, and keeps its own variables only
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        own = frozenset([*parameter_names(node.args), *assigned_names(map(_statement, body))]) - declared
        for part in body:
            yield from self._find(part, _Place(around, around | own, is_yielding))

    def _find(self, node: ast.AST, place: _Place) -> Iterator[OnnxsmithError]:
        found = self._refused(node, place)
        if found is not None:
            at, message, instead = found
            span = head_span if isinstance(at, ast.stmt) else span_of
            yield UnsupportedSyntaxError(message, help=instead).locate(span(at, self._file, self._name))
            if type(node) in _REFUSED:
                return
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            outside = (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None))
            for part in (*outside, *getattr(node, "decorator_list", ())):
                yield from self._find(part, place)
            yield from self.function(node, place.inside, is_inner=True)
            return
        if (
            isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign)
            and type(node.value) in _YIELDS
        ):
            place = place._replace(yielded=node.value)
        for child in children(node):
            yield from self._find(child, place)

    def _refused(self, node: ast.AST, place: _Place) -> tuple[ast.AST, str, str] | None:
        """The mistake in a node by itself: its place, its text, and what to write instead."""
        if type(node) in self._allowed:
            return None
        refused = _REFUSED.get(type(node))
        if refused is not None:
            return node, f"a script cannot contain {refused[0]}", refused[1]
        if isinstance(node, ast.Nonlocal):
            outside = [name for name in node.names if name not in place.around]
            if outside and place.is_yielding:
                return node, f"a generator of a script cannot assign '{outside[0]}'", _YIELD_IT
            if outside:
                return node, f"a script cannot assign '{outside[0]}', which lives outside it", _RETURN_IT
        if type(node) in _YIELDS and not place.is_yielding:
            return node, f"a script cannot contain {_YIELDS[type(node)]}", _RETURN_ALL
        if type(node) in _YIELDS and node is not place.yielded:
            return node, f"{_YIELDS[type(node)]} inside an expression is not supported in a script", _OWN_LINE
        if isinstance(node, ast.NamedExpr) and place.is_yielding:
            return node, "a generator of a script cannot contain ':='", _ASSIGN_BEFORE
        return _special(node)


class _Place(NamedTuple):
    """Where a node stands."""

    #: The variables of functions around the one that it is in, which that one may assign.
    around: frozenset[str]
    #: Those, and its own: what functions inside it may assign.
    inside: frozenset[str]
    #: Whether it is in a generator function.
    is_yielding: bool
    #: The one expression that may be a `yield`.
    yielded: ast.AST | None = None


_YIELD_IT = "yield the value, and assign it where the generator is used"
_RETURN_IT = "return the value, and assign it where the script is called"
_RETURN_ALL = "a model returns all its outputs at once; return a tuple"
_OWN_LINE = "give it a line of its own: value = yield x"
_ASSIGN_BEFORE = "assign the variable on a line of its own"


def _statement(node: ast.AST) -> ast.stmt:
    return node if isinstance(node, ast.stmt) else ast.Expr(cast(ast.expr, node))


def _special(node: ast.AST) -> tuple[ast.AST, str, str] | None:
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return (
                node,
                "a script cannot assign an attribute of an object",
                "assign a variable and return it; state in a dataclass is given a new value: "
                "s = State(s.total + v), or s = dataclasses.replace(s, total=…)",
            )
        case ast.Delete(targets=targets):
            for target in targets:
                if not isinstance(target, ast.Name | ast.Subscript):
                    return (
                        target,
                        "a script can delete only variables, and elements of lists and dicts",
                        "give each target a name",
                    )
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            return node, "a script cannot contain 'import *'", "name what you need"
        case _:
            return None
    return None
