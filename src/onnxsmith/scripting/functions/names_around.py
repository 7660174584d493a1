"""Names around a jitted script, checked in each call: a name may stand for another object since.

It checks that names still stand for the same objects: globals and variables of outer functions, for the script and for
the helpers that it calls. It also checks attributes of `self`, of modules and of the user's objects, and the items of
short lists and dicts. Each namespace costs one call of C, so that a call of a session stays short. The contents of
arrays are not compared, which would take time in proportion to their size.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.source.user_code import helpers_of
from onnxsmith.source import is_library

_Space: TypeAlias = "dict[str, Any]"
#: The most items of a list or dict that are looked at.
_MOST_ITEMS = 64
_CODE = types.CodeType


class NamesAround:
    """The objects that the names around a function stand for now."""

    __slots__ = ("_cells", "_containers", "_spaces")

    def __init__(self, function: types.FunctionType, instance: UserValue = None) -> None:
        #: Namespaces, what takes the values of some names out of one, and what these were.
        self._spaces: list[tuple[Callable[[_Space], tuple[Any, ...]], _Space, tuple[Any, ...]]] = []
        self._cells: list[tuple[types.CellType, Any]] = []
        self._containers: list[tuple[list[Any] | dict[Any, Any], tuple[Any, ...]]] = []
        wanted: dict[int, tuple[_Space, set[str]]] = {}
        for each in (function, *helpers_of(function)):
            names = set(_names(each.__code__))
            _note(wanted, each.__globals__, names)
            self._cells += [(cell, _held(cell)) for cell in each.__closure__ or ()]
            around = [each.__globals__[name] for name in names if name in each.__globals__]
            for value in (*around, *map(_held, each.__closure__ or ()), instance):
                self._look_inside(value, names, wanted)
        for space, names in wanted.values():
            # Of one name `itemgetter` gives no tuple.
            take = cast("Callable[[_Space], tuple[Any, ...]]", operator.itemgetter(*names, next(iter(names))))
            self._spaces.append((take, space, take(space)))

    def _look_inside(
        self, value: object, names: set[str], wanted: dict[int, tuple[_Space, set[str]]]
    ) -> None:
        if isinstance(value, list | dict):
            container = cast("list[Any] | dict[Any, Any]", value)
            if len(container) <= _MOST_ITEMS:
                self._containers.append((container, tuple(_items(container))))
        elif isinstance(value, types.ModuleType):
            if not is_library(getattr(value, "__file__", None) or "<frozen "):
                _note(wanted, vars(value), names)
        elif (
            not isinstance(value, type | types.FunctionType | np.ndarray)
            and type(value).__module__ != "builtins"
        ):
            space: object = getattr(value, "__dict__", None)
            if type(space) is dict and not type(value).__module__.startswith("onnxsmith"):
                _note(wanted, cast(_Space, space), names)

    def changed(self) -> bool:
        """True if a name stands for another object than it did."""
        try:
            for take, space, values in self._spaces:
                if not all(map(operator.is_, take(space), values)):
                    return True
        except KeyError:  # deleted
            return True
        for cell, value in self._cells:
            if _held(cell) is not value:
                return True
        for container, items in self._containers:
            now = tuple(_items(container))
            if len(now) != len(items) or not all(map(operator.is_, now, items)):
                return True
        return False


def _names(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those inside it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, _CODE):
            yield from _names(each)


def _note(wanted: dict[int, tuple[_Space, set[str]]], space: _Space, names: Iterable[str]) -> None:
    found = {name for name in names if name in space}
    if found:
        wanted.setdefault(id(space), (space, set()))[1].update(found)


def _items(container: list[Any] | dict[Any, Any]) -> Iterable[Any]:
    return (*container, *container.values()) if isinstance(container, dict) else container


def _held(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # no value yet
        return cell
