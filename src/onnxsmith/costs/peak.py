"""How much memory values take at the most, run node by node in the order of the file."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.types.value_types import AnyValueType, TensorType

_LONGEST_NAME = 60

Value = TypeVar("Value", bound=Hashable)


def peak_bytes(
    given: Sequence[Value],
    results: Sequence[Sequence[Value]],
    last_use: Mapping[Value, int],
    sizes: Mapping[Value, int],
) -> int:
    """The most bytes that inputs and the results of nodes take at one time.

    A value is there from its node on, to the last node that takes it: `last_use` has the number of that node, or of
    none for what is there to the end. Values that have no size are not counted.
    """
    ending: dict[int, list[Value]] = {}
    for value, number in last_use.items():
        ending.setdefault(number, []).append(value)
    now = sum(sizes.get(each, 0) for each in given)
    peak = now
    for number, made in enumerate(results):
        now += sum(sizes.get(value, 0) for value in made)
        peak = max(peak, now)
        now -= sum(sizes[value] for value in ending.get(number, ()))
    return peak


def bytes_of(kind: AnyValueType) -> int | None:
    """The bytes of a value of a type; None where they are not known."""
    if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None or not kind.dtype.bits:
        return None
    sizes = [each for each in kind.shape if isinstance(each, int)]
    return -(-math.prod(sizes) * kind.dtype.bits // 8) if len(sizes) == len(kind.shape) else None


def unknown_size(name: str, kind: AnyValueType) -> str:
    """Says of a value that its size is not known."""
    return printable(f"{clipped(name, _LONGEST_NAME)!r} is {kind!r}")
