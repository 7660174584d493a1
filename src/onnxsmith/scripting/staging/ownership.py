"""Checks that only some variables hold the elements of an array: then a new array may take its place unseen.

Asked where two paths meet and where a loop begins. Whatever cannot be told is answered with no: writing to the array is
refused then.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onnxsmith.core.carried import Carrier
from onnxsmith.scripting.staging.reach import Reach

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.stager import Stager


class Owners:
    """Who holds what after a statement: given what variables hold then, and other values that are still needed.

    A function's arguments are its caller's. What it has made itself is held by its variables that are still read, by
    what inner functions assign, and by objects that these reach.
    """

    def __init__(
        self, stager: Stager, place: ast.AST | None, variables: Mapping[str, object], *others: object
    ) -> None:
        self._frame = stager.frame
        self._variables = variables
        self._others = others
        self._live = live_after(stager, place) if isinstance(place, ast.stmt) else None
        self._reach: Reach | None = None

    def is_alone(self, carrier: Carrier) -> bool:
        """True if nobody holds an object from before, and none shows its values."""
        if self._live is None or carrier.owner is not carrier or carrier.born < self._frame.started:
            return False
        if self._reach is None:
            held = [(name, each) for name, each in self._variables.items() if name in self._live]
            held += [("", each) for each in self._others]
            self._reach = Reach(held + held_around(self._frame), ("__dict__",))
        return carrier not in self._reach


def live_after(stager: Stager, place: ast.stmt) -> frozenset[str]:
    """The variables that may still be read after a statement, wherever control goes from it."""
    flow = stager.flow
    kinds = ("next", "break", "continue")
    live = frozenset[str]().union(*(flow.live_after_jump(place, kind) for kind in kinds))
    return live | flow.live_in_loop(place) if isinstance(place, ast.For | ast.While) else live


def held_around(frame: Frame) -> list[tuple[str, object]]:
    """The variables that inner functions assign, and those of the functions around this one."""
    found: list[tuple[str, object]] = []
    here: Frame | None = frame
    while here is not None:
        found += (*here.cells.items(), *here.closure.items())
        if here is not frame:
            found += here.variables.items()
        here = here.outer
    return found
