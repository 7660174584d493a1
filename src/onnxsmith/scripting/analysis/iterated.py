"""The expression after `in`: range, zip, enumerate and reversed are taken apart, so that tensors may stand in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

#: Calls after `in` that are taken apart, so that tensors may stand in them.
_TAKEN_APART = ("range", "zip", "enumerate", "reversed")


def iteration_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions after `in` that are evaluated as they are: the functions and arguments of what is taken apart."""
    if is_taken_apart(node):
        yield node.func
        for argument in (*node.args, *(each.value for each in node.keywords)):
            yield from iteration_parts(argument)
    else:
        yield node


def is_taken_apart(node: ast.expr) -> TypeGuard[ast.Call]:
    """True if an expression is a plain call of range, zip, enumerate or reversed."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            is_plain = not any(isinstance(each, ast.Starred) for each in args) and all(
                each.arg for each in keywords
            )
            return name in _TAKEN_APART and is_plain
        case _:
            return False
