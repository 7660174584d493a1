"""Decorators that only look on: they time, log or try again, and give what the function gives.

Such a wrapper takes any arguments, hands all of them to the function it wraps, and returns its result. Whatever else it
does is print, log, or ask the clock, which is for runs: a model has the function alone. A wrapper that does more, such
as one that counts, is staged as it is.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from onnxsmith.errors import SourceNotFoundError
from onnxsmith.scripting.source.function_source import find_function
from onnxsmith.scripting.source.outside import closure_of, is_user_code

#: Builtins and modules whose functions change nothing that a script could see.
_BUILTINS = frozenset(
    [print, len, round, repr, str, format, range, min, max, int, float, abs, isinstance, type, sum]
)
_MODULES = ("time", "datetime", "logging", "warnings")
_METHODS = frozenset(["total_seconds", "format", "join"])
#: What an expression of such a wrapper may be made of.
_EXPRESSIONS = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.keyword,
    ast.Starred,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Tuple,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


def observed(function: types.FunctionType) -> Callable[..., Any] | None:
    """The function that a wrapper of the user's only looks on; None for any other function."""
    wrapped = vars(function).get("__wrapped__")
    if not callable(wrapped) or not is_user_code(function):
        return None
    try:
        node = find_function(function)
    except SourceNotFoundError:
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    closure = closure_of(function)
    names = frozenset(name for name, value in closure.items() if value is wrapped)
    return wrapped if _Wrapper(node, names, {**function.__globals__, **closure}).only_looks_on() else None


class _Wrapper:
    """Reads one wrapper."""

    def __init__(self, node: ast.FunctionDef, wrapped: frozenset[str], outside: Mapping[str, object]) -> None:
        self._node = node
        self._wrapped = wrapped
        self._outside = outside
        arguments = node.args
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self._star = None if named or arguments.vararg is None else arguments.vararg.arg
        self._stars = None if arguments.kwarg is None else arguments.kwarg.arg
        self._own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_bound(each)}
        assigned = [each for each in ast.walk(node) if isinstance(each, ast.Assign)]
        #: The variables that hold what the function gave.
        self._results = {
            target.id
            for each in assigned
            if self._is_handed_on(each.value)
            for target in each.targets
            if isinstance(target, ast.Name)
        }

    def only_looks_on(self) -> bool:
        """True if it gives what the function gives, and changes nothing."""
        is_known = self._star is not None and bool(self._wrapped)
        return is_known and self._are_harmless(self._node.body) and _ends_by_return(self._node.body)

    def _is_handed_on(self, node: ast.AST | None) -> bool:
        """True if an expression is `function(*args, **kwargs)`."""
        match node:
            case ast.Call(
                func=ast.Name(id=name),
                args=[ast.Starred(value=ast.Name(id=star))],
                keywords=[ast.keyword(arg=None, value=ast.Name(id=stars))],
            ):
                return name in self._wrapped and star == self._star and stars == self._stars
            case ast.Call(func=ast.Name(id=name), args=[ast.Starred(value=ast.Name(id=star))], keywords=[]):
                return name in self._wrapped and star == self._star and self._stars is None
            case _:
                return False

    def _are_harmless(self, statements: Iterable[ast.stmt]) -> bool:
        return all(self._is_harmless(each) for each in statements)

    def _is_harmless(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Return(value=ast.Name(id=name)):
                return name in self._results
            case ast.Return(value=value):
                return self._is_handed_on(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self._is_handed_on(value) or (self._may_assign(name) and self._observes(value))
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                return self._may_assign(name) and self._observes(value)
            case ast.Expr(value=value):
                return self._is_handed_on(value) or self._observes(value)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                caught = [each for handler in handlers for each in handler.body]
                return self._are_harmless([*body, *caught, *orelse, *last])
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
                return self._observes(test) and self._are_harmless([*body, *orelse])
            case ast.For(target=ast.Name(id=name), iter=items, body=body, orelse=orelse):
                return (
                    self._may_assign(name) and self._observes(items) and self._are_harmless([*body, *orelse])
                )
            case ast.Raise(exc=error):
                return error is None or self._observes(error)
            case ast.Pass() | ast.Break() | ast.Continue():
                return True
            case _:
                return False

    def _may_assign(self, name: str) -> bool:
        return name not in self._results and name not in (self._star, self._stars, *self._wrapped)

    def _observes(self, expression: ast.expr) -> bool:
        """True if an expression only computes, logs, prints or asks the clock."""
        nodes = list(ast.walk(expression))
        calls = [each for each in nodes if isinstance(each, ast.Call)]
        return all(isinstance(each, _EXPRESSIONS) for each in nodes) and all(
            self._is_observer(each.func) for each in calls
        )

    def _is_observer(self, callee: ast.expr) -> bool:
        function = self._resolved(callee)
        if function is None:
            return isinstance(callee, ast.Attribute) and callee.attr in _METHODS
        if _is_exception(function):
            return True
        logging = sys.modules.get("logging")
        owner: object = getattr(function, "__self__", None)
        if logging is not None and isinstance(owner, logging.Logger):
            return True
        module: object = getattr(owner if _is_class(owner) else function, "__module__", None)
        return module in _MODULES or any(function is each for each in _BUILTINS)

    def _resolved(self, node: ast.expr) -> object:
        """The object that a name, or an attribute of a module, a logger or a class of `datetime`, stands for."""
        if isinstance(node, ast.Name) and node.id in self._own:
            return None
        if isinstance(node, ast.Name):
            return self._outside.get(node.id, getattr(builtins, node.id, None))
        if not isinstance(node, ast.Attribute):
            return None
        owner = self._resolved(node.value)
        logging = sys.modules.get("logging")
        is_logger = logging is not None and isinstance(owner, logging.Logger)
        is_known = isinstance(owner, types.ModuleType) or (
            isinstance(owner, type) and owner.__module__ == "datetime"
        )
        return getattr(owner, node.attr, None) if is_logger or is_known else None


def _is_class(value: object) -> bool:
    return isinstance(value, type)


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _is_bound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _ends_by_return(statements: list[ast.stmt]) -> bool:
    """True if a block that gets to its end has returned, unless something was raised."""
    match statements[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.Try(body=body, orelse=orelse):
            return _ends_by_return(orelse or body)
        case ast.For(body=body, orelse=[]) | ast.While(body=body, orelse=[]):
            return _ends_by_return(body)  # tried again
        case _:
            return False
