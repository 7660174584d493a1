"""`state["sum"] += v` in a branch or loop that the model performs: the variable gets another dict or list.

Only where the variable alone holds it, since nobody else would see the change, and only in dialects that stage all
code. The keys stay what they are: what the values are is merged and carried as that of any variable. All other
containers are changed as Python does, and `watch` refuses that where only the model knows whether they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast, runtime_checkable

from onnxsmith.core.call_cache import CallCache
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.source.trees import walk
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import containers_in
from onnxsmith.scripting.staging.watch import is_kept_unchanged, is_row, kept_rows

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager

#: A dict or list; what is between the brackets is asked of it as Python does.
Items: TypeAlias = "dict[object, UserValue]"

#: How many statements are remembered.
_KEPT = 2_000
_names = CallCache[tuple[ast.stmt, frozenset[str]]](_KEPT)
_appending = CallCache[tuple[ast.stmt, list[ast.Subscript]]](_KEPT)


def item_names(frame: Frame, statements: Iterable[ast.stmt]) -> list[str]:
    """The variables whose dicts and lists get other items in these statements: they get new values there."""
    if not frame.run.dialect.stages_all:
        return []
    found: set[str] = set()
    for statement in statements:
        found |= _written(statement)
    return sorted(name for name in found if is_own(frame, name))


def _written(statement: ast.stmt) -> frozenset[str]:
    kept = _names.get(id(statement))
    if kept is not None and kept[0] is statement:
        return kept[1]
    roots = (
        _path(node)[0]
        for node in walk(statement)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    )
    found = frozenset(each for each in roots if each is not None)
    _names.put(id(statement), (statement, found), 1)
    return found


def _path(target: ast.Subscript) -> tuple[str | None, list[ast.expr]]:
    """The variable that a target begins with, and what stands between the brackets after it."""
    keys: list[ast.expr] = []
    here: ast.expr = target
    while isinstance(here, ast.Subscript):
        keys.append(here.slice)
        here = here.value
    return here.id if isinstance(here, ast.Name) else None, keys[::-1]


class Place:
    """An item of a dict or list that a variable alone holds, to which a path of the model gives a value."""

    def __init__(self, stager: Stager, name: str, keys: Sequence[object]) -> None:
        self._stager = stager
        self._name = name
        self._keys = keys

    @property
    def _containers(self) -> list[Items]:
        """The containers on the way to it, as the variable has them now."""
        found = [cast(Items, self._stager.frame.variables[self._name])]
        for key in self._keys[:-1]:
            found.append(cast(Items, found[-1][key]))
        return found

    @property
    def value(self) -> UserValue:
        """The value that it holds now."""
        return self._containers[-1][self._keys[-1]]

    def put(self, value: UserValue) -> None:
        """Give the variable a container of the same form, with another value in this place."""
        made = value
        for container, key in zip(reversed(self._containers), reversed(self._keys), strict=True):
            made = _replaced(container, key, made)
        self._stager.assign_name(self._name, made)


def _replaced(container: Items, key: object, value: UserValue) -> UserValue:
    made = container.copy()
    made[key] = value
    return cast(UserValue, made)


def place_of(stager: Stager, target: ast.Subscript) -> Place | None:
    """The place that is assigned to, where the variable is given another container; None for all else."""
    frame = stager.frame
    if not frame.run.dialect.stages_all:
        return None
    name, nodes = _path(target)
    if name is None or name not in frame.variables:
        return None
    if current_graph().depth <= frame.depth and not _is_kept(frame.variables[name]):
        return None  # Python itself changes it
    if not is_own(frame, name) or _has_rows(frame, name) or not all(map(_is_simple, nodes)):
        return None
    keys = [cast(object, frame.evaluate(each)) for each in nodes]
    inner: Held = frame.variables[name]
    for key in keys[:-1]:
        inner = cast(Items, inner)[key]
        if type(inner) not in (list, dict):
            return None
    return Place(stager, name, keys)


def appended_places(stager: Stager, statements: Iterable[ast.stmt]) -> list[Place]:
    """The lists in dicts and lists that statements append to, `rows[0].append(v)`, by keys that are written out."""
    if not stager.frame.run.dialect.stages_all:
        return []
    targets = {ast.unparse(each): each for statement in statements for each in _appended(statement)}
    places = [_written_out(stager, each) for each in targets.values()]
    return [each for each in places if each is not None and type(each.value) is list]


def _appended(statement: ast.stmt) -> Sequence[ast.Subscript]:
    kept = _appending.get(id(statement))
    if kept is not None and kept[0] is statement:
        return kept[1]
    found: list[ast.Subscript] = []
    for node in walk(statement):
        match node:
            case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Subscript() as target, attr="append"))):
                found.append(target)
            case _:
                pass
    _appending.put(id(statement), (statement, found), 1)
    return found


def _written_out(stager: Stager, target: ast.Subscript) -> Place | None:
    name, nodes = _path(target)
    if name is None or not is_own(stager.frame, name) or _has_rows(stager.frame, name):
        return None
    keys: list[object] = []
    inner: Held = stager.frame.variables[name]
    for node in nodes:
        if type(inner) not in (list, dict) or not isinstance(node, ast.Constant):
            return None
        keys.append(node.value)
        try:
            inner = cast(Items, inner)[node.value]
        except LookupError:  # which the loop itself tells
            return None
    return Place(stager, name, keys)


def _is_kept(value: Held) -> bool:
    """True if paths of the model have left a container that is not to be changed, or one with such a one in it."""
    return type(value) in (list, dict) and any(map(is_kept_unchanged, containers_in(value)))


def _has_rows(frame: Frame, name: str) -> bool:
    """True if a container is a row of a list of the model, or has one in it: another one would not be that row."""
    return any(map(is_row, containers_in(frame.variables[name])))


def _is_simple(key: ast.expr) -> bool:
    """True if a key may be evaluated twice: names and what is written out."""
    return isinstance(key, ast.Constant | ast.Name) or (
        isinstance(key, ast.UnaryOp) and isinstance(key.operand, ast.Constant)
    )


def is_own(frame: Frame, name: str) -> bool:
    """True if a variable holds a dict or list that nobody else holds, nor any container in it."""
    value = frame.variables.get(name)
    if type(value) not in (list, dict) or name in frame.analysis.parameters:
        return False
    inside = list(containers_in(value))
    if len({id(each) for each in inside}) < len(inside):
        return False
    reach = held_beside(frame, name)
    return not any(each in reach for each in inside)


def held_beside(frame: Frame, name: str) -> Reach:
    """The objects that variables other than one hold, in a function and those around it."""
    others: list[tuple[str, object]] = []
    here: Frame | None = frame
    while here is not None:
        others += [(key, each) for key, each in here.variables.items() if key != name or here is not frame]
        others += (*here.cells.items(), *here.closure.items())
        here = here.outer
    return Reach(others, ("__dict__",))


@runtime_checkable
class Rows(Protocol):
    """A list of a dialect whose rows may be lists: `rows[i][k] = v` writes to the list itself."""

    @property
    def has_own_rows(self) -> bool:
        """True if nothing else can hold a row that is a list."""
        ...

    def append_new(self, item: UserValue) -> None:
        """Add a row that nothing else holds."""
        ...

    def write(self, position: UserValue, place: UserValue, value: UserValue) -> None:
        """Give a place of a row another value."""
        ...


def rows_written(stager: Stager, target: ast.Subscript) -> Rows | None:
    """The list of rows that `rows[i][k] = v` writes to; None for all else, and where something else holds a row."""
    inner = target.value
    if not isinstance(inner, ast.Subscript) or not isinstance(inner.value, ast.Name):
        return None
    name = inner.value.id
    rows = stager.frame.variables.get(name)
    if not isinstance(rows, Rows) or not rows.has_own_rows:
        return None
    held = held_beside(stager.frame, name)
    return None if any(each in held for each in kept_rows()) else rows
