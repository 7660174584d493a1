"""Counts of nodes, weights and operations, as `info` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from onnxsmith.costs import Count
from onnxsmith.diagnostics import clipped

LONGEST_COUNT = 200


def in_words(count: Count) -> int | str:
    """A number, or an expression of named sizes."""
    number = count.number
    return clipped(repr(count), LONGEST_COUNT) if number is None else number


def most_frequent_first(counts: Counter[str]) -> dict[str, int]:
    """Counts in the order that people look for."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def by_type(weights: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The bytes of weights by their element types, the most first."""
    sizes: Counter[str] = Counter()
    for each in weights:
        sizes[each["type"]] += each["bytes"]
    return dict(sizes.most_common())
