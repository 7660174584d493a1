"""Variables that hold the message of an error: `msg = f"… {n}"`, which nothing reads but `raise ValueError(msg)`.

Libraries write most of their messages so. Looks at the source of the function that assigns the variable. Where a `try`
stands in it, nothing is known: a handler may go on with the message.
"""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterable, Iterator

from onnxsmith.source import parse

#: The last part of the names of functions that show their arguments.
_SHOWING = frozenset(
    ["print", "warn", "debug", "info", "warning", "error", "critical", "exception", "log", "write"]
)


def assigns_message(frame: types.FrameType) -> bool:
    """True if a frame evaluates the value of a variable that only errors and calls that show it read."""
    lines = linecache.getlines(frame.f_code.co_filename)
    module = _parsed("".join(lines)) if lines else None
    if module is None:
        return False
    function = _innermost(module, frame.f_lineno)
    if function is None or any(isinstance(each, ast.Try) for each in ast.walk(function)):
        return False
    statements = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.AugAssign)]
    here = [each for each in statements if each.lineno <= frame.f_lineno <= (each.end_lineno or each.lineno)]
    names = [_target(each) for each in here]
    return bool(names) and all(name is not None and _is_only_shown(function, name) for name in names)


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except (SyntaxError, ValueError):
        return None


def _innermost(module: ast.Module, line: int) -> ast.FunctionDef | None:
    found = [
        each
        for each in ast.walk(module)
        if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or each.lineno)
    ]
    return max(found, key=lambda each: each.lineno, default=None)


def _target(statement: ast.Assign | ast.AugAssign) -> str | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    match targets:
        case [ast.Name(id=name)]:
            return name
        case _:
            return None


def _is_only_shown(function: ast.FunctionDef, name: str) -> bool:
    reads = [id(each) for each in _reads(function, name)]
    shown = {id(each) for part in _shown_parts(function, name) for each in _reads(part, name)}
    return bool(reads) and all(each in shown for each in reads)


def _reads(node: ast.AST, name: str) -> Iterator[ast.Name]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
            yield each


def _shown_parts(function: ast.FunctionDef, name: str) -> Iterable[ast.AST]:
    """The parts of a function in which the variable may be read: errors, calls that show it, itself made longer."""
    for each in ast.walk(function):
        match each:
            case ast.Raise():
                yield each
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _SHOWING:
                yield each
            case ast.Assign() | ast.AugAssign() if _target(each) == name:
                yield each
            case _:
                pass
