"""The sizes that types declare for dimensions, `Dim("N", min=1)`: what they decide, and what a model checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.schema.inference.bounds import Ranges
from onnxsmith.types.value_types import Dim, RangedName, TensorType, ValueType

#: How many answers of one dimension are listed.
_SHOWN = 12


def declared_in(types: Iterable[ValueType | None]) -> list[Dim]:
    """The dimensions with declared sizes, each name once: where types declare several, all of them hold."""
    found: dict[str, Dim] = {}
    for each in types:
        for size in (each.shape or ()) if isinstance(each, TensorType) else ():
            if isinstance(size, RangedName):
                found[str(size)] = _both(found.get(str(size)), size.declared)
    return list(found.values())


def _both(before: Dim | None, given: Dim) -> Dim:
    if before is None:
        return given
    limits = [each.max for each in (before, given) if each.max is not None]
    return Dim(given.name, max(before.min, given.min), min(limits, default=None))


def ranges_of(declared: Sequence[Dim]) -> Ranges | None:
    """The ranges of the declared sizes."""
    return Ranges(tuple((each.name, each.min, each.max) for each in declared)) if declared else None


def conditions_of(declared: Sequence[Dim], ranges: Ranges | None) -> list[SizeCondition]:
    """The conditions of a model on the sizes that it is run with, and the decisions that followed while it was made."""
    found: list[SizeCondition] = []
    for each in declared:
        name = spelled(each.name)
        because = repr(each) + _decided(each.name, ranges)
        if each.min:
            found.append(SizeCondition(f"{name} >= {each.min}", because))
        if each.max is not None:
            found.append(SizeCondition(f"{name} <= {each.max}", because))
    return found


def _decided(name: str, ranges: Ranges | None) -> str:
    """The comparisons with a name that its declared sizes have decided, and where they stand."""
    answers = [
        text + (f" ({place})" if place else "")
        for text, place in (ranges.answers.items() if ranges is not None else ())
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    ]
    more = len(answers) - _SHOWN
    shown = [*answers[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return f", which decides: {', '.join(shown)}" if shown else ""
