"""Which of our errors a function can raise, read from its code and from the functions of its package that it calls."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType

from onnxsmith.errors import OnnxsmithError

#: How many calls deep is looked. What lies deeper is shared by all that computes: the errors of operators.
_DEPTH = 3


def errors_of(function: object) -> list[type[OnnxsmithError]]:
    """The errors that have a code, by code; those of operators, which every call can raise, are left to their pages."""
    found: dict[str, type[OnnxsmithError]] = {}
    plain = _plain(function)
    if plain is not None:
        for each in _raised(plain, _package(plain), _DEPTH, set()):
            if each.code:
                found[each.code] = each
    return [found[code] for code in sorted(found)]


def _plain(function: object) -> FunctionType | None:
    """The function behind decorators, properties and class methods."""
    if isinstance(function, property):
        function = function.fget
    if isinstance(function, functools.cached_property):
        function = function.func
    if isinstance(function, staticmethod | classmethod):
        function = function.__func__
    if inspect.isclass(function):
        function = inspect.getattr_static(function, "__init__", None)
    if not callable(function):
        return None
    try:
        unwrapped = inspect.unwrap(function)
    except ValueError:
        return None
    return unwrapped if isinstance(unwrapped, FunctionType) else None


def _package(function: FunctionType) -> str:
    return ".".join(function.__module__.split(".")[:2])


def _raised(
    function: FunctionType, package: str, depth: int, seen: set[Callable[..., object]]
) -> Iterator[type[OnnxsmithError]]:
    seen.add(function)
    for called in _called(function):
        if inspect.isclass(called) and issubclass(called, OnnxsmithError):
            yield called
            continue
        plain = _plain(called) if not inspect.isclass(called) else None
        if (
            plain is not None
            and depth
            and plain not in seen
            and (plain.__module__ or "").startswith((package, function.__module__))
        ):
            yield from _raised(plain, package, depth - 1, seen)


@functools.cache
def _called(function: FunctionType) -> list[object]:
    """What a function calls by a name of its module: errors that it makes, and functions."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return []
    found: list[object] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = _resolved(node.func, function.__globals__)
            if called is not None:
                found.append(called)
    return found


def _resolved(node: ast.expr, names: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = names.get(node.value.id)
        return inspect.getattr_static(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None
