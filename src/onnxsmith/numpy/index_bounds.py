"""Places that an index asks for and that may not be there, where it matters which error comes first.

A model finds a place that is not there by failing, at once, whatever an `assert` before it says. So a model that has
failed is recorded once more, to find the first error: there every index notes whether its places are there, as all
other errors are noted, and none fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, TypeAlias

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.context import setting
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.diagnostics import shown_as
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.requirements import is_within, require
from onnxsmith.numpy.sizes import Size, sized

#: One place, or an array of places.
Place: TypeAlias = int | Number | Array

_NOTED: ContextVar[bool] = ContextVar("onnxsmith_noted_places", default=False)


@shown_as("IndexError")
class PlaceError(IndexError):
    """An index asks for a place that is not there; the runtime says the same with numbers, where it finds it."""


def noting_places() -> AbstractContextManager[object]:
    """Every index notes in the block whether its places are there, and gives zeros where they are not."""
    return setting(_NOTED, True)


def are_noted() -> bool:
    """True if places are noted here."""
    return _NOTED.get()


def is_there(size: Size, place: Place) -> Tensor | bool:
    """True if all places are places of a dimension."""
    if isinstance(place, int) and isinstance(size, int):
        return -size <= place < size
    if isinstance(place, Array):
        within = is_within(place, -size, size)
        rank = values.rank_of(within)
        return reductions.all_true(within, list(range(rank)), False) if rank else within
    at, end = sized(place), sized(size)
    return (at < end) & (at + end >= 0)


def note_place(size: Size, place: Place, axis: int) -> None:
    """The code that is staged raises an error where a place is not there."""
    require(lambda: is_there(size, place), PlaceError(f"an index is out of bounds for axis {axis}"))


def where_there(
    places: Sequence[tuple[Size, Place]],
    found: Callable[[], Tensor],
    otherwise: Callable[[], Tensor],
) -> Tensor:
    """A tensor that asks for places; where one is not there, another of its type."""
    conditions = [each for each in (is_there(*pair) for pair in places) if each is not True]
    if not conditions:
        return found()
    every = functools.reduce(op.And, conditions)
    operators: Any = current_graph().operators  # whose bodies are functions
    return operators.If(every, then_branch=found, else_branch=otherwise)
