"""Splits by categories as splits by numbers, for trees whose columns hold codes of categories. Knows no library.

`TreeEnsemble` compares numbers. A split by a set of categories becomes one by a column of its own, which is 0 for rows
that go left and 1 for others; a table by code says which. Splits by the same set share their column.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from onnxsmith.numpy import Array, asarray, concatenate, isnan, take
from onnxsmith.sklearn.families.tree_tables import Numbers
from onnxsmith.sklearn.values import either

#: What a node compares such a column with.
BETWEEN = 0.5


class CategorySides:
    """The columns that splits by categories ask for, behind those that X has."""

    def __init__(self, width: int, *, lowest: float) -> None:
        self._width = width
        #: From which number on there are codes. A code is what is left of a number before its point.
        self._lowest = lowest
        #: By feature, sides of codes, side of other codes and side of NaN, the column.
        self._columns: dict[tuple[int, bytes, bool, bool], int] = {}

    def column(self, feature: int, left: Iterable[int], *, others_left: bool, missing_left: bool) -> int:
        """The column for a set of codes that go left, or all others but that set where `others_left` holds."""
        chosen = np.unique(np.fromiter(left, np.int64))
        key = (feature, chosen.tobytes(), others_left, missing_left)
        return self._width + self._columns.setdefault(key, len(self._columns))

    def beside(self, x: Array) -> Array:
        """X, and beside it the columns that were asked for."""
        if not self._columns:
            return x
        by_feature: dict[int, list[tuple[Numbers, bool, bool, int]]] = {}
        for (feature, content, others, missing), place in self._columns.items():
            entry = (np.frombuffer(content, np.int64), others, missing, place)
            by_feature.setdefault(feature, []).append(entry)
        parts, order = [x], list(range(self._width))
        for feature, sets in by_feature.items():
            size = max((int(codes[-1]) + 1 for codes, *_ in sets if codes.size), default=0)
            table = np.stack([_sides(*each[:3], size) for each in sets], axis=1)
            parts.append(take(asarray(table.astype(x.dtype)), self._places(x[:, feature], size), axis=0))
            order += [self._width + place for *_, place in sets]
        joined = concatenate(parts, axis=1)
        if order == sorted(order):
            return joined
        return take(joined, asarray(np.argsort(np.array(order))), axis=1)

    def _places(self, column: Array, size: int) -> Array:
        """Where a table of sides has the side of each number."""
        is_code = (column >= self._lowest) & (column < size)
        code = either(is_code, column, 0).astype(np.int64)
        return either(is_code, code, either(isnan(column), size + 1, size))


def _sides(codes: Numbers, others_left: bool, missing_left: bool, size: int) -> Numbers:
    """The side by code: of codes below `size`, of others, of NaN."""
    made = np.full(size + 2, 0.0 if others_left else 1.0)
    made[codes] = 1.0 if others_left else 0.0
    made[size + 1] = 0.0 if missing_left else 1.0
    return made
