"""The functions that are being staged, one inside the other: an endless recursion is found here."""

from __future__ import annotations

import ast
import sys
from contextvars import ContextVar, Token
from types import CodeType, TracebackType
from typing import TypeAlias

from onnxsmith.core.value import SHOWS_EAGER_CLASS
from onnxsmith.errors import RecursiveFunctionError

#: A function that is being staged so often inside itself never ends.
_DEEPEST_CALLS = 60
#: Functions that call one another may be nested deeper than Python's usual limit allows: from so many on, Python is
#: given room for each, up to what the machine's own stack can hold.
_ROOMY_CALLS, _MOST_CALLS, _FRAMES_PER_CALL = 20, 300, 40
#: As often in itself, a function that nests conditions too deeply does so because it calls itself.
_CERTAINLY_RECURSIVE = 5

#: What a function is known by: its syntax tree, or its code where that is all that is needed.
_Known: TypeAlias = ast.AST | CodeType
#: The functions, the innermost last.
_CALLS: ContextVar[tuple[_Known, ...]] = ContextVar("onnxsmith_staged_calls", default=())


def is_recursive(node: _Known) -> bool:
    """True if a function is being staged inside itself, again and again."""
    return _CALLS.get().count(node) >= _CERTAINLY_RECURSIVE


def recursion_error(name: str) -> RecursiveFunctionError:
    """The error for a function that calls itself without end."""
    return RecursiveFunctionError(
        f"'{name}' calls itself without end",
        help="a recursion whose end depends on a tensor cannot be a model; write a loop",
    )


class staging:
    """Within the block, a function is being staged."""

    __slots__ = ("_limit", "_name", "_node", "_shows", "_token")

    def __init__(self, node: _Known, name: str) -> None:
        self._node = node
        self._name = name

    def __enter__(self) -> None:
        calls = _CALLS.get()
        if calls.count(self._node) >= _DEEPEST_CALLS:
            raise recursion_error(self._name)
        self._limit = sys.getrecursionlimit()
        if _ROOMY_CALLS <= len(calls) < _MOST_CALLS:
            sys.setrecursionlimit(self._limit + _FRAMES_PER_CALL)
        self._token: Token[tuple[_Known, ...]] = _CALLS.set((*calls, self._node))
        self._shows = SHOWS_EAGER_CLASS.set(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        SHOWS_EAGER_CLASS.reset(self._shows)
        _CALLS.reset(self._token)
        if _ROOMY_CALLS <= len(_CALLS.get()) < _MOST_CALLS:
            sys.setrecursionlimit(self._limit)
        # Python's own limit may be nearer than ours. Said by the outermost function, where there is room again.
        if kind is RecursionError and not _CALLS.get():
            raise recursion_error(self._name) from None
