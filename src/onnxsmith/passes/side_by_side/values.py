"""Forms of a value of a loop's body where all turns happen at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import onnx_ir as ir

#: What a turn adds that adds nothing: the other zero would take the sign from a sum that is -0.0.
NOTHING = -0.0


class CannotLift(Exception):
    """The turns of a loop are not known to be independent, or there is no rule for a node in them."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A value: the same in all turns, or `each` turn's own, one after the other along a first dimension."""

    value: ir.Value
    is_each: bool
    #: How many dimensions it has in one turn.
    rank: int


@dataclass(frozen=True, slots=True)
class Written:
    """An array that is carried from turn to turn, of which each turn reads and writes its own place alone."""

    #: The input of the body that stands for it; two that are carried may begin with one value.
    held: ir.Value
    #: What it is before the first turn.
    base: ir.Value
    #: The value of the body that says the place.
    place: ir.Value | None = None
    #: The place in each turn.
    places: Lifted | None = None
    #: What each turn wrote, where it did.
    update: Lifted | None = None
    #: The turns that wrote; None where all did, if any.
    mask: ir.Value | None = None

    def at(self, place: ir.Value, places: Lifted) -> Written:
        """The same, looked at in this place: it has to be the one of before."""
        if self.place is not None and self.place is not place:
            raise CannotLift("a turn looks at two places of an array")
        return replace(self, place=place, places=places)


@dataclass(frozen=True, slots=True)
class Summed:
    """A number that is carried from turn to turn, and that each turn adds something to."""

    #: The input of the body that stands for it.
    held: ir.Value
    #: What it is before the first turn.
    base: ir.Value
    addend: Lifted | None = None


#: A value of the body.
Known: TypeAlias = Lifted | Written | Summed
