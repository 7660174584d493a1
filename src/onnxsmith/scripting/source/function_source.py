"""From a Python function to its syntax tree, in the coordinates of the file, notebook cell or string it came from.

Files are parsed whole and once, so that lines and columns need no correction and a file with many scripts costs
one parse.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from onnxsmith.context import collection_paused
from onnxsmith.core.call_cache import CallCache
from onnxsmith.errors import SourceNotFoundError, UnsupportedSyntaxError
from onnxsmith.source import Span, parse

#: A name that begins with two underscores and does not end with two.
_PRIVATE = re.compile(r"\b__\w*[^\W_]_?\b")
#: The fields of nodes that hold names of variables and attributes.
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
    ast.ImportFrom: ("module",),
    ast.alias: ("name", "asname"),
}


def has_private_names(text: str) -> bool:
    """True if names in a file's text may be private names of a class."""
    return "class" in text and _PRIVATE.search(text) is not None


def mangle_private_names(tree: ast.Module) -> None:
    """Give the private names in all classes of a tree the names that Python gives them.

    Functions that stand in a class itself keep their names: no code of a function takes them for a variable.
    """
    _Mangler().visit(tree)


class _Mangler(ast.NodeVisitor):
    def __init__(self) -> None:
        self._class = ""
        self._is_in_function = False

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self._enter_class(node)
            return
        if self._class:
            self._rename(node)
        was_in_function = self._is_in_function
        self._is_in_function = was_in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        self.generic_visit(node)
        self._is_in_function = was_in_function

    def _enter_class(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        outer = self._class, self._is_in_function
        self._class, self._is_in_function = node.name.lstrip("_"), False
        for each in node.body:
            self.visit(each)
        self._class, self._is_in_function = outer
        if self._class and self._is_in_function:
            node.name = self._mangled(node.name)

    def _rename(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if self._is_in_function:
                node.name = self._mangled(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self._mangled(each) for each in node.names]
        for field in _FIELDS.get(type(node), ()):
            name = cast("str | None", getattr(node, field))
            if name is not None:
                setattr(node, field, self._mangled(name))

    def _mangled(self, name: str) -> str:
        is_private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._class}{name}" if is_private else name


FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda

#: Characters of source whose trees are kept: a tree takes a hundred times the memory of its text, and is walked by
#: every full collection of garbage.
_KEPT_CHARACTERS = 200_000

_FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass(frozen=True, slots=True)
class _ParsedFile:
    text: str
    #: (first line, name) -> the functions that start there.
    functions: dict[tuple[int, str], list[FunctionNode]]


_parsed = CallCache[_ParsedFile](_KEPT_CHARACTERS)


def find_function(function: types.FunctionType) -> FunctionNode:
    """The syntax tree of a function, or an error that says why there is none."""
    code = function.__code__
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise UnsupportedSyntaxError(
            f"'{function.__name__}' is an async function, and a model has nothing to wait for",
            help=f"write a plain function: def {function.__name__}(…)",
        )
    for text in _texts(code, function):
        candidates = _functions(code.co_filename, text).get((code.co_firstlineno, code.co_name), [])
        if len(candidates) > 1:  # several lambdas on one line: the body's columns tell them apart
            candidates = [each for each in candidates if _starts_like(each, code)] or candidates
        if candidates:
            return candidates[0]
    raise SourceNotFoundError(
        f"the source of '{function.__name__}' cannot be read",
        help="define it in a file or a notebook cell; onnxsmith.recompile(text) runs what decompile gives; for other "
        "generated code, put the text into linecache.cache first",
    )


def _texts(code: types.CodeType, function: types.FunctionType) -> Iterator[str]:
    """Texts that the function may come from, the likeliest first."""
    # All strings given to `exec` or `python -c` are called "<string>": what is executed now comes first.
    executed = _executed_text(code) if code.co_filename.startswith("<") else None
    if executed is not None:
        yield executed
    linecache.checkcache(code.co_filename)  # a module may have been edited and reloaded
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if lines:
        yield "".join(lines)
    elif executed is None and (executed := _executed_text(code)) is not None:
        yield executed


def _executed_text(code: types.CodeType) -> str | None:
    """Source given to `exec` as a string: it is still in a variable of whoever called exec."""
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack
    current: types.FrameType | None = frame
    while current is not None:
        if current.f_code.co_filename == code.co_filename and current.f_back is not None:
            caller = current.f_back
            for text in (*caller.f_locals.values(), *caller.f_code.co_consts, *caller.f_globals.values()):
                if isinstance(text, str) and _defines(text, code):
                    # Excerpts in error messages come from linecache, too.
                    linecache.cache[code.co_filename] = _in_lines(text, code.co_filename)
                    return text
        current = current.f_back
    return None


@functools.lru_cache(maxsize=2)  # every function of a text asks for it, one after the other
def _in_lines(text: str, file: str) -> tuple[int, None, list[str], str]:
    """A text as linecache holds it."""
    return len(text), None, text.splitlines(True), file


def _defines(text: str, code: types.CodeType) -> bool:
    return (code.co_name in text or code.co_name == "<lambda>") and _has_code(text, code)


def _has_code(text: str, code: types.CodeType) -> bool:
    """True if a function of a text has this code."""
    compiled = _compiled(text, code.co_filename, future_flags(code))
    return any(is_same_code(each, code) for each in compiled.get((code.co_firstlineno, code.co_name), ()))


@functools.lru_cache(maxsize=8)  # a file has many functions, and they are decorated one after the other
def _compiled(text: str, file: str, flags: int) -> dict[tuple[int, str], list[types.CodeType]]:
    """The code of all functions of a text, by first line and name; none of a text that is no Python."""
    found: dict[tuple[int, str], list[types.CodeType]] = {}
    try:
        module = compile(text, file, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return found
    for each in inner_code(module):
        found.setdefault((each.co_firstlineno, each.co_name), []).append(each)
    return found


def future_flags(code: types.CodeType) -> int:
    """The `__future__` features that the code was compiled with.

    Its own text need not name them: a notebook has them from an earlier cell, `exec` from the module that calls it.
    """
    return code.co_flags & _FUTURE_FLAGS


def inner_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects inside a code object."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from inner_code(constant)


def is_same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """True if two code objects were compiled from the same text: many texts are called `<string>`."""
    plain = [[each for each in code.co_consts if not isinstance(each, types.CodeType)] for code in (a, b)]
    return (a.co_name, a.co_firstlineno, a.co_code, a.co_names) == (
        b.co_name,
        b.co_firstlineno,
        b.co_code,
        b.co_names,
    ) and plain[0] == plain[1]


def _functions(file: str, text: str) -> dict[tuple[int, str], list[FunctionNode]]:
    found = _parsed.get(file)
    if found is None or found.text != text:
        try:
            with collection_paused():
                found = _ParsedFile(text, _index(text))
        except (SyntaxError, ValueError):  # a file that changed since it was imported
            return {}
        _parsed.put(file, found, len(text))
    return found.functions


def _index(text: str) -> dict[tuple[int, str], list[FunctionNode]]:
    index: dict[tuple[int, str], list[FunctionNode]] = {}
    tree = parse(text)
    # Most files have no lambda; then only statements that can hold a definition need to be looked into.
    nodes = ast.walk(tree) if "lambda" in text else _definitions(tree)
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            index.setdefault((first, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            index.setdefault((node.lineno, "<lambda>"), []).append(node)
    if has_private_names(text):
        mangle_private_names(tree)
    return index


#: Statements in which no other stands; most are.
_SIMPLE = frozenset(
    [ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Import, ast.ImportFrom]
)


def _definitions(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements that may be definitions or hold some, outer before inner."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(tree, name, ()):
            if statement.__class__ not in _SIMPLE:
                yield statement
                yield from _definitions(statement)


def _starts_like(node: FunctionNode, code: types.CodeType) -> bool:
    body = node.body[0] if isinstance(node, ast.FunctionDef) else node.body
    columns = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None
    ]
    inside = [(line, column) for line, column in columns if (line, column) >= (node.lineno, node.col_offset)]
    return min(inside, default=None) == (body.lineno, body.col_offset)


def head_span(node: ast.AST, file: str, function: str) -> Span:
    """The span of a node; of a statement with a block, its head: underlining all of a `for` says nothing."""
    span = span_of(node, file, function)
    if isinstance(node, ast.expr) and not isinstance(node, ast.Lambda):
        return span
    match node:
        case ast.If(test=last) | ast.While(test=last) | ast.For(iter=last) | ast.Match(subject=last):
            line, column = last.end_lineno or span.line, last.end_col_offset or span.column
        case ast.With(items=[*_, item]):
            last = item.optional_vars or item.context_expr
            line, column = last.end_lineno or span.line, last.end_col_offset or span.column
        case ast.FunctionDef(name=name):
            line, column = span.line, span.column + len(f"def {name}".encode())
        case ast.AsyncFunctionDef(name=name):
            line, column = span.line, span.column + len(f"async def {name}".encode())
        case ast.ClassDef(name=name):
            line, column = span.line, span.column + len(f"class {name}".encode())
        case ast.Try() | ast.TryStar():
            line, column = span.line, span.column + len("try")
        case ast.Lambda():
            line, column = span.line, span.column + len("lambda")
        case _:
            return span
    return Span(file, span.line, span.column, line, column, function)


def span_of(node: ast.AST, file: str, function: str) -> Span:
    """The span of a node of a file's tree."""
    return Span(
        file,
        node.lineno,  # type: ignore[attr-defined]
        node.col_offset,  # type: ignore[attr-defined]
        node.end_lineno,  # type: ignore[attr-defined]
        node.end_col_offset,  # type: ignore[attr-defined]
        function,
    )


def module_level_names(file: str) -> Iterator[str]:
    """Names that a file defines at its top, now or further down: what a forward reference may mean."""
    text = "".join(linecache.getlines(file))
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        return
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def unwrapped(function: Callable[..., Any]) -> types.FunctionType | None:
    """The plain function behind a decorator or partial that keeps it; None for what is no Python function."""
    inner = inspect.unwrap(function) if callable(function) else function
    inner = inner.__func__ if isinstance(inner, types.MethodType) else inner
    return inner if isinstance(inner, types.FunctionType) else None


# -- Notices that a file was edited after the code in it was imported: what runs and what is read differ
# then --

#: What was last written before is what was imported.
_STARTED = time.time()


def refuse_if_changed(function: types.FunctionType, node: FunctionNode) -> None:
    """Raise SourceNotFoundError if the function runs other code than its file has now."""
    code = function.__code__
    entry = linecache.cache.get(code.co_filename)
    written = entry[1] if entry is not None and len(entry) > 1 else None
    if not isinstance(written, float) or written <= _STARTED or _is_rewritten(function, node):
        return
    if _has_code("".join(linecache.getlines(code.co_filename)), code):
        return
    raise SourceNotFoundError(
        f"'{function.__name__}' was edited after it was imported: what runs is not what its file says",
        help=f"import {function.__module__} again: start Python anew, or importlib.reload",
    )


def _is_rewritten(function: types.FunctionType, node: FunctionNode) -> bool:
    """True if a test runner has put other code in the place of an `assert`."""
    loader: object = function.__globals__.get("__loader__")
    return type(loader).__module__.startswith("_pytest") and any(
        isinstance(each, ast.Assert) for each in ast.walk(node)
    )
