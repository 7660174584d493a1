"""Rows that hit the thresholds of an estimator exactly, and the numbers next to them.

Thresholds are those of scikit-learn's trees, those that the model compares with, whatever library they are from, and
the knots and edges at which functions of columns are pieced together. Where columns are changed before, the rows are
only rows like others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
import onnx

from onnxsmith.graphs.model import Model
from onnxsmith.graphs.trial_inputs import around
from onnxsmith.sklearn.rows import Elements, Rows, array_in
from onnxsmith.sklearn.values import Fitted, Inner

#: As many thresholds are tried at the most.
_MOST = 64


def rows_at_thresholds(estimator: Fitted, model: Model, data: Rows) -> Elements | None:
    """Rows like the first whose columns are at, below and above thresholds; None without any."""
    matrix = array_in(data)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind != "f" or not len(matrix):
        return None
    made: list[np.ndarray[Any, Any]] = []
    found = [
        *itertools.islice(_thresholds(estimator), _MOST),
        *itertools.islice(_edges(estimator, matrix.shape[1]), _MOST),
        *itertools.islice(_compared_with(model, matrix.shape[1]), _MOST),
    ]
    for column, threshold in dict.fromkeys(found):
        for value in around(threshold, matrix.dtype):
            row = matrix[0].copy()
            row[column] = value
            made.append(row)
    return np.stack(made) if made else None


def _compared_with(model: Model, width: int) -> Iterator[tuple[int, float]]:
    """Columns and thresholds of the trees that stand in a model."""
    proto = model.proto
    for node in itertools.chain(proto.graph.node, *(each.node for each in proto.functions)):
        if node.op_type != "TreeEnsemble":
            continue
        attributes = {each.name: each for each in node.attribute}
        splits = onnx.numpy_helper.to_array(attributes["nodes_splits"].t)
        for column, split in zip(attributes["nodes_featureids"].ints, splits.tolist(), strict=True):
            if column < width and np.isfinite(split):
                yield column, split


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


def _edges(estimator: Fitted, width: int) -> Iterator[tuple[int, float]]:
    """Columns and the numbers between which an estimator has one formula each, a few of each column in turn."""
    found = [[each for each in column if np.isfinite(each)] for column in _edges_by_column(estimator)]
    for turn in itertools.zip_longest(*(_spread(each) for each in found[:width])):
        yield from ((column, float(value)) for column, value in enumerate(turn) if value is not None)


def _spread(values: list[float]) -> list[float]:
    """The ends first: there what lies outside begins."""
    return [*values[:1], *values[-1:], *values[1:-1]]


def _edges_by_column(estimator: Fitted) -> list[list[float]]:
    held = vars(estimator)
    if "bsplines_" in held:
        return [np.unique(each.t).tolist() for each in held["bsplines_"]]
    if "bin_edges_" in held:
        return [np.asarray(each, dtype=np.float64).tolist() for each in held["bin_edges_"]]
    if "quantiles_" in held:
        return np.asarray(held["quantiles_"], dtype=np.float64).T.tolist()
    if "X_thresholds_" in held:
        return [np.asarray(held["X_thresholds_"], dtype=np.float64).tolist()]
    return []
