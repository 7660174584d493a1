"""Walking syntax trees quickly: every statement of a script is walked several times when it is decorated.

The same as `ast.iter_child_nodes` and `ast.walk`, in source order, without the nodes that only say how another is
used (`Load`, `Add`, …), at a third of the cost.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

_MARKS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, in the order of the source."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: Any = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _MARKS):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        if here.__class__ is not ast.Name and here.__class__ is not ast.Constant:
            waiting += children(here)


# -- A cache that holds so much and no more: the oldest entries go first --


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Values by key, with weights whose sum stays below a limit; the newest is held in any case.

    >>> cache = Bounded[str, int](10)
    >>> cache.put("a", 1, 6); cache.put("b", 2, 6)
    >>> cache.get("a"), cache.get("b")
    (None, 2)
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[K, tuple[V, int]] = {}
        self._weight = 0

    def get(self, key: K) -> V | None:
        """The value of a key, if it is still there."""
        found = self._held.get(key)
        return None if found is None else found[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Hold a value, and let go what there is no room for."""
        self._drop(key)
        self._held[key] = (value, weight)
        self._weight += weight
        while self._weight > self._limit and len(self._held) > 1:
            # Threads may be about to drop the same one.
            self._drop(next(iter(self._held.copy())))

    def _drop(self, key: K) -> None:
        found = self._held.pop(key, None)
        if found is not None:
            self._weight -= found[1]
