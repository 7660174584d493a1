"""The keys of options: what a model is made for besides the types of its inputs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast


def option_key(value: object) -> Hashable:
    """The key of an option: what it is, or the object itself where that has no hash.

    Of equal values with different meanings (`1`, `1.0`, `True`; `0.0`, `-0.0`) each has a key of its own.
    """
    if isinstance(value, float | complex):
        return repr(value)
    if isinstance(value, list | tuple):
        return tuple((type(each), option_key(each)) for each in cast("Sequence[object]", value))
    if isinstance(value, slice):  # has a hash from Python 3.12 on
        return option_key(bounds_of(cast("slice[object, object, object]", value)))
    try:
        hash(value)
    except TypeError:
        return _ById(value)
    return cast(Hashable, value)


def bounds_of(part: slice[object, object, object]) -> tuple[object, object, object]:
    """The three parts of a slice."""
    return part.start, part.stop, part.step


class _ById:
    """An object as itself; it is kept, so that its id stays its own."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __hash__(self) -> int:
        return id(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other._value is self._value
