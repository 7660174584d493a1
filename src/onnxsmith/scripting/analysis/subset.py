"""Is this in the language? Finds what a script cannot contain, all of it at once, before anything is staged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
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
    ast.Yield: ("'yield'", "a model returns all its outputs at once; return a tuple"),
    ast.YieldFrom: ("'yield from'", "a model returns all its outputs at once; return a tuple"),
    ast.Global: ("'global'", "a model has no globals to assign; return the value"),
    ast.Nonlocal: ("'nonlocal'", "return the value from the inner function and assign it outside"),
    ast.ClassDef: ("a class definition", "define the class outside the script"),
}
_REFUSED[ast.TryStar] = _REFUSED[ast.Try]

#: The nodes that are looked at closely, besides attributes that are assigned; without them nothing is unsupported.
MAY_BE_UNSUPPORTED: frozenset[type[ast.AST]] = frozenset([*_REFUSED, ast.Delete, ast.ImportFrom])


def find_unsupported(node: FunctionNode, file: str, name: str) -> list[OnnxsmithError]:
    """An error for everything in a function that ONNX cannot express."""
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    return [error for part in body for error in _find(part, file, name)]


def _find(node: ast.AST, file: str, name: str) -> Iterator[OnnxsmithError]:
    refused = _REFUSED.get(type(node))
    if refused is not None:
        what, instead = refused
        yield UnsupportedSyntaxError(f"a script cannot contain {what}", help=instead).locate(
            head_span(node, file, name)
        )
        return
    special = _special(node)
    if special is not None:
        place, message, instead = special
        yield UnsupportedSyntaxError(message, help=instead).locate(span_of(place, file, name))
    for child in children(node):
        yield from _find(child, file, name)


def _special(node: ast.AST) -> tuple[ast.AST, str, str] | None:
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return node, "a script cannot assign an attribute of an object", "assign a variable and return it"
        case ast.Delete(targets=targets):
            for target in targets:
                if not isinstance(target, ast.Name):
                    return (
                        target,
                        "a script can delete only variables",
                        "make a new value without the element",
                    )
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            return node, "a script cannot contain 'import *'", "name what you need"
        case _:
            return None
    return None
