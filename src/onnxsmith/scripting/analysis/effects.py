"""Names in statements: all that they could change is reached through the variables and attributes they name.

A path of operators names tensors and operators, and nothing that can change. Works on the syntax tree alone; what the
names stand for is looked up by `staging.watch` when the path is staged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from onnxsmith.scripting.source.trees import walk

_LIMIT = 4096
# id(node) -> (node, names). The entry keeps the node alive, so its id cannot be reused while it is here.
_names: dict[int, tuple[ast.AST, Names]] = {}


class Names(NamedTuple):
    """The variables and the attributes that code names, wherever in it."""

    variables: frozenset[str]
    attributes: frozenset[str]

    def __or__(self, other: Names) -> Names:  # type: ignore[override]
        return Names(self.variables | other.variables, self.attributes | other.attributes)


NO_NAMES = Names(frozenset(), frozenset())


def names_in(nodes: Iterable[ast.AST]) -> Names:
    """The names in these statements or expressions; each is walked once."""
    result = NO_NAMES
    for node in nodes:
        entry = _names.get(id(node))
        if entry is None:
            if len(_names) >= _LIMIT:
                _names.clear()
            entry = _names[id(node)] = (node, _walked(node))
        result = result | entry[1]
    return result


def _walked(node: ast.AST) -> Names:
    variables: set[str] = set()
    attributes: set[str] = set()
    for each in walk(node):
        if isinstance(each, ast.Name):
            variables.add(each.id)
        elif isinstance(each, ast.Attribute):
            attributes.add(each.attr)
        elif isinstance(each, ast.MatchClass):
            attributes.update(each.kwd_attrs)
    return Names(frozenset(variables), frozenset(attributes))


def appended_name(call: ast.expr) -> str | None:
    """The variable that an expression appends to: `out` in `out.append(v)`."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]):
            return None if isinstance(item, ast.Starred) else name
        case _:
            return None
