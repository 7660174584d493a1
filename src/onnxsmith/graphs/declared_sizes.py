"""The sizes that types declare for dimensions, `Dim("N", min=1)`: what they decide, and what a model checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.schema.inference.bounds import Ranges
from onnxsmith.types.value_types import Dim, RangedName, TensorType, ValueType


def declared_in(types: Iterable[ValueType]) -> list[Dim]:
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
    """What the declared sizes decide."""
    return Ranges(tuple((each.name, each.min, each.max) for each in declared)) if declared else None


def conditions_of(declared: Sequence[Dim]) -> list[SizeCondition]:
    """What a model asks of the sizes that it is run with."""
    found: list[SizeCondition] = []
    for each in declared:
        name = spelled(each.name)
        if each.min:
            found.append(SizeCondition(f"{name} >= {each.min}", repr(each)))
        if each.max is not None:
            found.append(SizeCondition(f"{name} <= {each.max}", repr(each)))
    return found
