"""Axes as users write them: counted from the front, and refused where there are none."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.errors import AttributeTypeError, AxisError

#: One axis, several, or None for all.
Axes: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None


def axis_of(axis: object, rank: int, name: str = "axis") -> int:
    """One axis, counted from the front."""
    number = index_of(axis)
    if number is None:
        raise AttributeTypeError(f"{name} is an int, not {type(axis).__name__}", culprit=("attribute", name))
    if not -rank <= number < rank:
        raise AxisError(
            f"{name} {number} is out of bounds for an array of {rank} dimension{'s' * (rank != 1)}",
            culprit=("attribute", name),
        )
    return number % rank


def index_of(value: object) -> int | None:
    """A whole number as Python's; None for what is none, such as an array of several."""
    try:
        return operator.index(cast(SupportsIndex, value))
    except TypeError:
        return None


def axes_of(axes: object, rank: int, name: str = "axis") -> tuple[int, ...]:
    """Several axes, counted from the front, each once; all of them for None."""
    if axes is None:
        return tuple(range(rank))
    if not isinstance(axes, int) and getattr(axes, "ndim", 0) == 1 and hasattr(axes, "tolist"):
        axes = cast("np.ndarray[Any, Any]", axes).tolist()  # an array of axes
    if isinstance(axes, SupportsIndex) or not isinstance(axes, Iterable):
        return (axis_of(axes, rank, name),)
    found = tuple(axis_of(each, rank, name) for each in cast("Sequence[object]", axes))
    if len(set(found)) != len(found):
        raise AxisError(f"an axis is named twice in {name}", culprit=("attribute", name))
    return found
