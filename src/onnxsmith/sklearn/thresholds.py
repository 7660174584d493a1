"""Rows that hit the thresholds of trees exactly, and the numbers next to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from onnxsmith.sklearn.rows import Elements, Rows, array_in
from onnxsmith.sklearn.values import Fitted, Inner

#: As many thresholds are tried at the most.
_MOST = 64


def rows_at_thresholds(estimator: Fitted, data: Rows) -> Elements | None:
    """Rows like the first whose columns are at, below and above the thresholds of trees; None without trees."""
    matrix = array_in(data)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind != "f" or not len(matrix):
        return None
    made: list[np.ndarray[Any, Any]] = []
    for column, threshold in _thresholds(estimator):
        at = matrix.dtype.type(threshold)
        for value in (
            at,
            np.nextafter(at, matrix.dtype.type(-np.inf)),
            np.nextafter(at, matrix.dtype.type(np.inf)),
        ):
            row = matrix[0].copy()
            row[column] = value
            made.append(row)
        if len(made) >= 3 * _MOST:
            break
    return np.stack(made) if made else None


def _thresholds(estimator: Fitted) -> Iterator[tuple[int, float]]:
    """Columns and thresholds of all trees of an estimator that is given the columns themselves."""
    for tree in _trees(estimator):
        for column, threshold in zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True):
            if column >= 0:
                yield column, threshold


def _trees(estimator: Fitted) -> Iterator[Inner]:
    if hasattr(estimator, "tree_"):
        yield estimator.tree_
    members: Any = getattr(estimator, "estimators_", ())
    array = array_in(members)
    every = cast("Iterable[Any]", members if array is None else array.ravel().tolist())
    for each in every:
        tree: Any = getattr(each, "tree_", None)
        if tree is not None:
            yield tree
