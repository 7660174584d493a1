"""Generator functions in dialects that stage all code: what they yield is collected in a list, and gone through once.

Python runs a generator step by step with the loop over it, and each may change what the other reads. Collected before,
it is the same where neither does: what it is given may not be changed any more, and what it yields may not be written
to. Generators that never end, that raise errors or are sent values are refused.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, cast

from onnxsmith.core.call_cache import CallCache
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import TracedValueError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.flow import is_endless
from onnxsmith.scripting.analysis.names import own_nodes
from onnxsmith.scripting.analysis.rewrite import at
from onnxsmith.scripting.source.function_source import FunctionNode, head_span
from onnxsmith.scripting.staging.carriers import carriers_in
from onnxsmith.scripting.staging.structure import containers_in
from onnxsmith.scripting.staging.watch import keep_unchanged

#: The list of what is yielded, and who looks at it first; no names that anybody writes.
_COLLECTED, YIELDED = "__collected__", "__yielded__"
_KEPT = 500
# By the ids of trees, which the entries keep alive.
_made = CallCache[tuple[FunctionNode, ast.FunctionDef]](_KEPT)
_GIVEN = "a generator function goes through it"


def is_generator(function: types.FunctionType) -> bool:
    """True if calling a function gives a generator."""
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def collecting(node: FunctionNode, file: str, name: str) -> ast.FunctionDef:
    """A generator function as one that returns a list of what it yields; raises where that is not the same."""
    kept = _made.get(id(node))
    if kept is not None and kept[0] is node:
        return kept[1]
    function = cast(ast.FunctionDef, node)
    for each in own_nodes(function):
        why = _why_not(each)
        if why is not None:
            raise UnsupportedSyntaxError(
                f"the generator function '{name}' {why}, and what it yields is collected when the model is made",
                help="write a function that returns a list of what it gives, or write the loop out",
            ).locate(head_span(node, file, name))
    copied = copy.deepcopy(function)
    collect = _Collect()
    body = [cast(ast.stmt, collect.visit(each)) for each in copied.body]
    empty = at(copied, ast.Assign([_collected(copied, ast.Store())], at(copied, ast.List([], ast.Load()))))
    done = at(copied.body[-1], ast.Return(_collected(copied, ast.Load())))
    made = at(copied, ast.FunctionDef(copied.name, copied.args, [empty, *body, done], [], None, None))
    _made.put(id(node), (node, made), 1)
    return made


def _why_not(node: ast.AST) -> str | None:
    match node:
        case ast.Raise() | ast.Assert():
            return "may raise an error"
        case ast.While() if is_endless(node):
            return "may never end"
        case ast.Return(value=ast.expr()):
            return "returns a value"
        case ast.Try() | ast.With():
            return "does something when it is left"
        case _:
            return None


def _collected(place: ast.AST, context: ast.expr_context) -> ast.Name:
    return at(place, ast.Name(_COLLECTED, context))


class _Collect(ast.NodeTransformer):
    """`yield v` as `collected.append(v)`, where it is a statement."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Yield(value=ast.expr() as value):
                return self._append(node, value)
            case ast.YieldFrom(value=source):
                item = at(source, ast.Name("__item__", ast.Store()))
                each = at(source, ast.Name("__item__", ast.Load()))
                return at(node, ast.For(item, source, [self._append(node, each)], [], None))
            case _:
                return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return at(node, ast.Return(_collected(node, ast.Load())))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node  # which yields for itself

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    @staticmethod
    def _append(place: ast.stmt, value: ast.expr) -> ast.stmt:
        looked = at(value, ast.Call(at(value, ast.Name(YIELDED, ast.Load())), [value], []))
        append = at(value, ast.Attribute(_collected(value, ast.Load()), "append", ast.Load()))
        return at(place, ast.Expr(at(value, ast.Call(append, [looked], []))))


def keep_given(arguments: Iterable[UserValue]) -> None:
    """Refuse from now on that what a generator is given is changed: it has been gone through already."""
    for each in arguments:
        for carrier in carriers_in(each):
            carrier.owner.keep_unchanged(_GIVEN)
        keep_unchanged(containers_in(each))


def once(found: UserValue) -> UserValue:
    """The elements of a generator, which can be gone through once."""
    if isinstance(found, list):
        return cast(UserValue, iter(found))
    return cast(UserValue, Yielded(found))


@shown_as("generator")
class Yielded:
    """The elements of a generator whose number only the model knows."""

    __slots__ = ("_items",)

    def __init__(self, items: UserValue) -> None:
        self._items: Any = items

    def taken(self) -> UserValue:
        """All of it, as a list; the second time there is nothing left, which nobody means."""
        items, self._items = self._items, None
        if items is None:
            raise TracedValueError(
                "a generator is gone through once, and this one is used again, or inside a loop",
                help="call the generator function where it is used, or make a list of it: items = list(…)",
            ).locate_at_caller()
        return items

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """The source that a loop over it goes through."""
        return cast(Any, self.taken()).gone_through()

    def _refused(self, *_: object) -> NoReturn:
        raise TracedValueError(
            "only the model knows how often a generator yields, and this needs it when the model is made",
            help="write a 'for' statement over it, or make a list of it: items = list(…)",
        ).locate_at_caller()

    __iter__ = __next__ = __len__ = _refused

    def __bool__(self) -> bool:
        return True
