"""Calls of helpers that may change an array in place that they are given: `bump(w)` with `a += 1` inside.

A helper is staged when it is called, and what its own variables hold is then decided. So the code that is about to be
staged is looked at here: what a call may write to counts as a change in the function that calls.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from onnxsmith.scripting.analysis.statement_order import given_away, statements_in, stores
from onnxsmith.source import is_library

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame

#: From this one on the arguments of BINARY_OP mean `+=` and its kin.
_IN_PLACE = 13


def written_by_calls(frame: Frame, statement: ast.stmt) -> Iterator[ast.expr]:
    """The arguments of calls in a statement that the called function may change in place."""
    for call in given_away(statement):
        if _may_write(_called(frame, call.func)):
            yield from call.args
            yield from (each.value for each in call.keywords)


def _called(frame: Frame, expression: ast.expr) -> object:
    """The function that a call calls, as far as that is known without running anything."""
    if isinstance(expression, ast.Name):
        return _variable(frame, expression.id)
    if isinstance(expression, ast.Attribute):
        held = _called(frame, expression.value)
        if isinstance(held, types.ModuleType):
            return vars(held).get(expression.attr)
        return inspect.getattr_static(held, expression.attr, None)
    return None


def _variable(frame: Frame, name: str) -> object:
    here: Frame | None = frame
    while here is not None:
        for space in (here.variables, here.cells, here.closure):
            if name in space:
                return cast(object, space[name])
        here = here.outer
    return frame.globals.get(name)


def _may_write(function: object) -> bool:
    if isinstance(function, staticmethod | classmethod | types.MethodType):
        return _may_write(cast(Any, function).__func__)
    if isinstance(function, functools.partial):
        return _may_write(cast("functools.partial[Any]", function).func)
    if isinstance(function, types.FunctionType):
        return _writes(function, ())
    node = getattr(function, "node", None)  # a function that is defined inside the staged one
    if isinstance(node, ast.FunctionDef):
        return any(stores(each) or any(given_away(each)) for each in statements_in(node.body))
    called = None if isinstance(function, type) else getattr(type(function), "__call__", None)  # noqa: B004
    return isinstance(called, types.FunctionType) and _writes(called, ())


def _writes(function: types.FunctionType, callers: tuple[types.FunctionType, ...]) -> bool:
    """True if the code of a function, or of functions of the user's that it names, changes something in place."""
    function = cast("types.FunctionType", inspect.unwrap(function))
    if is_library(function.__code__.co_filename) or function in callers:
        return False
    if _changes_in_place(function.__code__):
        return True
    named = (function.__globals__.get(each) for each in function.__code__.co_names)
    return any(_writes(each, (*callers, function)) for each in named if isinstance(each, types.FunctionType))


@functools.lru_cache(maxsize=1024)
def _changes_in_place(code: types.CodeType) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return any(map(_is_change, dis.get_instructions(code))) or any(map(_changes_in_place, inner))


def _is_change(instruction: dis.Instruction) -> bool:
    if instruction.opname == "BINARY_OP":
        return (
            instruction.arg is not None and instruction.arg >= _IN_PLACE and instruction.argrepr.endswith("=")
        )
    return instruction.opname in ("STORE_SUBSCR", "STORE_SLICE")
