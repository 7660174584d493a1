"""The law of named dimensions: in the inputs of one call, the same name is the same size.

Finds where a call breaks it; which error that is, is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from onnxsmith.types.value_types import AnyValueType, OptionalType, Shape, TensorType


class Contradiction(NamedTuple):
    """A name that stands for two sizes: where it was read first, and where it is another."""

    name: str
    first: str
    first_size: int
    second: str
    second_size: int

    @property
    def described(self) -> str:
        """In words."""
        here = f"{self.first_size} in '{self.first}'"
        there = f"{self.second_size}" + (
            f" in '{self.second}'" if self.second != self.first else " further on"
        )
        return f"dimension '{self.name}' is {here} and {there}"


def named_shape(kind: AnyValueType) -> Shape:
    """The dimensions of a tensor type, or of an optional one; none of others."""
    kind = kind.element if isinstance(kind, OptionalType) else kind
    return (kind.shape or ()) if isinstance(kind, TensorType) else ()


def has_repeated_names(kinds: Iterable[AnyValueType]) -> bool:
    """True if a name stands more than once, so that calls can break the law."""
    names = [each for kind in kinds for each in named_shape(kind) if isinstance(each, str)]
    return len(names) != len(set(names))


class EqualSizes(NamedTuple):
    """Two places that one name says are of one size: an input and an axis of it, and another."""

    first: int
    first_axis: int
    second: int
    second_axis: int


def equal_sizes(kinds: Iterable[AnyValueType]) -> tuple[EqualSizes, ...]:
    """The law as places to compare, for a caller who asks it of many calls and has no time to read types.

    >>> from onnxsmith.types.dtypes import DType
    >>> equal_sizes([TensorType(DType.FLOAT, ("N", 4)), TensorType(DType.FLOAT, ("N",))])
    (EqualSizes(first=0, first_axis=0, second=1, second_axis=0),)
    """
    seen: dict[str, tuple[int, int]] = {}
    found: list[EqualSizes] = []
    for position, kind in enumerate(kinds):
        for axis, name in enumerate(named_shape(kind)):
            if isinstance(name, str):
                first = seen.setdefault(name, (position, axis))
                if first != (position, axis):
                    found.append(EqualSizes(*first, position, axis))
    return tuple(found)


def contradiction(inputs: Iterable[tuple[str, AnyValueType, object]]) -> Contradiction | None:
    """The first name that two of the inputs (label, declared type, value) use for different sizes; None without.

    A value may be an array or a type; sizes that a type leaves open contradict nothing.
    """
    seen: dict[str, tuple[str, int]] = {}
    for label, kind, value in inputs:
        sizes: Shape = getattr(value, "shape", None) or ()  # what is no tensor has none
        for name, size in zip(named_shape(kind), sizes, strict=False):
            if isinstance(name, str) and isinstance(size, int):
                first, first_size = seen.setdefault(name, (label, size))
                if first_size != size:
                    return Contradiction(name, first, first_size, label, size)
    return None
