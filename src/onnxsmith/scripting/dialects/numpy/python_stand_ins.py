"""Functions of Python's that call others, as loops: staged where only the model can go through what they are given.

This module is code for numpy, as a user's is: it is not called, but staged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def mapped(function: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """`map(function, values, …)`"""
    if len(values) == 1:
        return [function(each) for each in values[0]]
    if len(values) == 2:
        return [function(a, b) for a, b in zip(values[0], values[1])]  # noqa: B905  # a script's has no `strict`
    return [function(a, b, c) for a, b, c in zip(values[0], values[1], values[2])]  # noqa: B905  # as above


def reduced(function: Callable[..., Any], values: Sequence[Any], *initial: Any) -> Any:
    """`functools.reduce(function, values, initial)`"""
    if initial:
        found, left = initial[0], values
    else:
        found, left = values[0], values[1:]
    for each in left:
        found = function(found, each)
    return found


def collected(values: Sequence[Any], count: int) -> list[Any]:
    """`list(values)`, of which there are so many as only the model knows."""
    return [each for each in values]  # noqa: C416  # which is what is staged
