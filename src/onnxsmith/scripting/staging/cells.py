"""Variables that inner functions assign by `nonlocal`: one place for each, which every function around it shares.

What a path does to them is found by comparing before and after, since a call may assign them wherever it stands. Knows
no graphs: where two paths meet, `branches` merges what they left, and `dynamic_loop` carries it.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextvars import ContextVar, Token
from typing import NamedTuple

from onnxsmith.scripting.staging.perhaps import Fact, refined
from onnxsmith.scripting.staging.script_values import Held, Marker

_ABSENT = object()


class Cells(dict[str, Held]):
    """The values of one call's variables that inner functions assign."""

    __slots__ = ("__weakref__",)


class Cell(NamedTuple):
    """One of them: where it is kept, and its name."""

    home: Cells
    name: str

    @property
    def key(self) -> tuple[int, str]:
        """The key that is its own while its home is alive."""
        return id(self.home), self.name


#: Those of every call that is being staged, or that left a function behind; the oldest first.
_KNOWN: ContextVar[tuple[weakref.ref[Cells], ...]] = ContextVar("onnxsmith_cells", default=())


def new_cells() -> Cells:
    """Cells for one call of a function; what inner functions assign is looked for in them from now on."""
    made = Cells()
    _KNOWN.set((*(each for each in _KNOWN.get() if each() is not None), weakref.ref(made)))
    return made


class CellScope:
    """Staging of one script: what cells it made are forgotten at its end."""

    __slots__ = ("_token",)

    def __enter__(self) -> object:
        self._token: Token[tuple[weakref.ref[Cells], ...]] = _KNOWN.set(_KNOWN.get())
        return self

    def __exit__(self, *_: object) -> None:
        _KNOWN.reset(self._token)


class CellValues:
    """The values of all cells at one moment."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        homes = [each() for each in _KNOWN.get()]
        self._held = [(home, dict(home)) for home in homes if home is not None]

    def put_back(self) -> None:
        """Let all hold again what they held."""
        for home, values in self._held:
            home.clear()
            home.update(values)

    def refine(self, facts: Sequence[Fact]) -> None:
        """Let cells hold what facts say of those that may be None."""
        for home, values in self._held:
            home.update(refined(values, facts))

    def changed(self, since: CellValues) -> list[Cell]:
        """The cells that held something else at an earlier moment."""
        earlier = {id(home): values for home, values in since._held}
        return [
            Cell(home, name)
            for home, values in self._held
            for before in [earlier.get(id(home))]
            if before is not None
            for name in dict.fromkeys((*before, *values))
            if before.get(name, _ABSENT) is not values.get(name, _ABSENT)
        ]

    def get(self, cell: Cell, default: Marker) -> Held:
        """The value that a cell held."""
        return next(
            (values.get(cell.name, default) for home, values in self._held if home is cell.home), default
        )
