"""Notices when Python objects from outside are changed where only the model knows whether that happens."""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any, cast

from onnxsmith.core.target import current_graph
from onnxsmith.errors import MutationError
from onnxsmith.scripting.functions.bound_scripts import Methods
from onnxsmith.source import Span

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame

#: The attribute of an object in which its methods that are scripts are kept.
METHODS = "_onnxsmith_scripts"

_MUTATORS = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "sort",
        "symmetric_difference_update",
        "difference_update",
        "update",
    ]
)
_CONTAINERS = (list, dict, set, collections.deque)
#: How deep containers and objects are looked into for the one that is changed.
_DEEPEST_LOOK = 4


def refuse_change_by(method: Any, frame: Frame) -> None:
    """Refuse the call of a method that changes a container which lives longer than the branch that it stands in."""
    if method.__class__ is types.BuiltinMethodType and method.__name__ in _MUTATORS:
        refuse_change(method.__self__, frame)


def refuse_change(container: Any, frame: Frame) -> None:
    """Refuse to change a container that a global or an outer function holds, where only the model knows whether.

    What the variables of staged functions hold is seen by `Guard`.
    """
    if not isinstance(container, _CONTAINERS) or current_graph().depth == 0:
        return
    for name, value in (*frame.closure.items(), *frame.globals.items()):
        if name != "__builtins__" and _holds(value, container, _DEEPEST_LOOK):
            raise _mutation_error(name)


def _holds(value: Any, wanted: Any, depth: int) -> bool:
    if value is wanted:
        return True
    if depth == 0 or isinstance(value, types.ModuleType | types.FunctionType | type):
        return False
    if isinstance(value, dict):
        parts: Any = cast("dict[Any, Any]", value).values()
    elif isinstance(value, list | tuple | set | collections.deque):
        parts = cast("list[Any]", value)
    else:
        parts = getattr(value, "__dict__", {}).values()
    return any(_holds(each, wanted, depth - 1) for each in list(parts))


def _mutation_error(name: str) -> MutationError:
    return MutationError(
        f"'{name}' is changed inside this, and only the model knows whether and how often it runs",
        help=f"assign a new value to a variable instead of changing '{name}'",
    )


class Guard:
    """A picture of all containers that variables hold, to compare with later."""

    def __init__(self, frame: Frame) -> None:
        self._pictures: list[tuple[str, Any, Any]] = []
        seen: set[int] = set()
        here: Frame | None = frame
        while here is not None:
            variables: dict[str, Any] = here.variables
            for name, value in variables.items():
                anything: Any = value
                if isinstance(value, list | dict | set) and id(cast(object, value)) not in seen:
                    seen.add(id(cast(object, value)))
                    self._pictures.append((name, anything, anything.copy()))
                elif name == "self" and hasattr(anything, "__dict__"):
                    held = cast("dict[str, Any]", anything.__dict__)
                    held.setdefault(
                        METHODS, Methods()
                    )  # where scripts that are methods are kept is no change
                    self._pictures.append((name, held, dict(held)))
            here = here.outer

    def check(self, span: Span | None) -> None:
        """Put changed containers back and say so."""
        changed: str | None = None
        for name, container, picture in self._pictures:
            if not _is_same(container, picture):
                _restore(container, picture)
                changed = changed or name
        if changed is not None:
            raise _mutation_error(changed).locate(span)


def _is_same(container: Any, picture: Any) -> bool:
    if len(container) != len(picture):
        return False
    if isinstance(container, set):
        return container == picture  # pyright: ignore[reportUnknownVariableType]
    if isinstance(container, dict):
        pairs = zip(cast("dict[Any, Any]", container).items(), picture.items(), strict=True)
        return all(a == b and x is y for (a, x), (b, y) in pairs)
    return all(x is y for x, y in zip(container, picture, strict=True))


def _restore(container: Any, picture: Any) -> None:
    if isinstance(container, list):
        container[:] = picture
        return
    container.clear()
    container.update(picture)
