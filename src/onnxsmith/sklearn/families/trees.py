"""Trees and forests. Equal for every row: X becomes float32, and is compared with thresholds in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, argmax, asarray, log, power, stack
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.tree_tables import (
    Numbers,
    ensemble_attributes,
    find_leaves,
    leaf_rows,
    sum_in_order,
    sum_of_leaves,
    table_of,
)
from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted, Part, Result, either, labels

_TREES = ("sklearn.tree.DecisionTreeClassifier", "sklearn.tree.ExtraTreeClassifier")
_FORESTS = ("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
_TREE_REGRESSORS = ("sklearn.tree.DecisionTreeRegressor", "sklearn.tree.ExtraTreeRegressor")
_FOREST_REGRESSORS = ("sklearn.ensemble.RandomForestRegressor", "sklearn.ensemble.ExtraTreesRegressor")


def as_trees_see(x: Array) -> Array:
    """X in float32, as scikit-learn's trees take it, in the type that thresholds are compared in."""
    return x.astype(np.float32).astype(np.float64)


def members(estimator: Fitted) -> list[Any]:
    """The trees of a forest; of a tree, itself."""
    return [estimator] if hasattr(estimator, "tree_") else list(estimator.estimators_)


def _means(estimator: Fitted, x: Array) -> Array:
    """The mean of what the trees give, of shape (rows, outputs, numbers)."""
    trees = [each.tree_ for each in members(estimator)]
    found = leaf_rows([table_of(each) for each in trees], [each.value for each in trees], as_trees_see(x))
    summed = sum_in_order(found)
    return summed if len(trees) == 1 else summed / float(len(trees))


@converts(*_TREES, *_FORESTS, "predict_proba")
def probabilities(estimator: Fitted, x: Array) -> Result:
    """The mean of the trees' probabilities; of several outputs, one array for each."""
    found = _means(estimator, x)
    counts = np.atleast_1d(estimator.n_classes_)
    parts = [found[:, k, : int(count)] for k, count in enumerate(counts)]
    return parts[0] if estimator.n_outputs_ == 1 else tuple(parts)


@converts(*_TREES, *_FORESTS, "predict_log_proba", inline=True)
def log_probabilities(estimator: Fitted, x: Array) -> Result:
    """The logarithm of the probabilities."""
    found: Array | tuple[Array, ...] = call(estimator, "predict_proba", x)
    return tuple(log(each) for each in found) if isinstance(found, tuple) else log(found)


@converts(*_TREES, *_FORESTS, "predict", inline=True)
def classes(estimator: Fitted, x: Array) -> Part:
    """The class of the largest mean; the first of equal ones."""
    found: Array | tuple[Array, ...] = call(estimator, "predict_proba", x)
    if not isinstance(found, tuple):
        return labels(estimator.classes_, argmax(found, axis=1))
    chosen = [
        labels(names, argmax(each, axis=1)) for names, each in zip(estimator.classes_, found, strict=True)
    ]
    return _columns(chosen, estimator.classes_[0].dtype)


def _columns(columns: Sequence[Part], dtype: np.dtype[Any]) -> Part:
    """Columns side by side."""
    if all(isinstance(each, Array) for each in columns):
        return stack(cast("Sequence[Array]", columns), axis=1).astype(dtype)
    tensors = [op.Unsqueeze(cast(Tensor, each), np.array([1])) for each in columns]
    return op.Concat(*tensors, axis=1)


@converts(*_TREE_REGRESSORS, *_FOREST_REGRESSORS, "predict")
def regression(estimator: Fitted, x: Array) -> Array:
    """The mean of the trees' values."""
    if estimator.n_outputs_ > 1:
        return _means(estimator, x)[:, :, 0]
    trees = [each.tree_ for each in members(estimator)]
    values = [each.value[:, 0, 0] for each in trees]
    summed = sum_of_leaves([table_of(each) for each in trees], values, as_trees_see(x))
    return summed if len(trees) == 1 else summed / float(len(trees))


@converts("sklearn.ensemble.RandomTreesEmbedding", "transform")
def embedding(estimator: Fitted, x: Array) -> Array:
    """A column for each leaf: 1 where the row ends in it. Dense, where scikit-learn's is sparse."""
    tables = [table_of(each.tree_) for each in estimator.estimators_]
    encoder = estimator.one_hot_encoder_
    starts = np.cumsum([0, *(len(each) for each in encoder.categories_)])
    attributes = ensemble_attributes(tables, [np.ones(len(each.left)) for each in tables])
    # Each leaf adds its 1 to a column of its own, instead of all leaves of a tree to one.
    attributes["leaf_targetids"] = [
        int(start + np.searchsorted(leaves, leaf))
        for start, leaves, table in zip(starts[:-1], encoder.categories_, tables, strict=True)
        for leaf in np.flatnonzero(table.is_leaf)
    ]
    attributes["n_targets"] = int(starts[-1])
    return find_leaves(as_trees_see(x), attributes).astype(encoder.dtype)


# -- isolation forests -------------------------------------------------------------------------------


def _depths(estimator: Fitted, x: Array) -> Array:
    """How deep the rows are, summed over all trees."""
    tables = [
        table_of(each.tree_, columns)
        for each, columns in zip(estimator.estimators_, estimator.estimators_features_, strict=True)
    ]
    lengths = zip(estimator._decision_path_lengths, estimator._average_path_length_per_tree, strict=True)
    return sum_of_leaves(tables, [path + rest - 1.0 for path, rest in lengths], as_trees_see(x))


def _largest_depth(estimator: Fitted) -> float:
    """The divisor of `_depths`."""
    average_path_length = of_sklearn("ensemble._iforest", "_average_path_length")
    return float(len(estimator.estimators_) * average_path_length([estimator._max_samples])[0])


@converts("sklearn.ensemble.IsolationForest", "score_samples")
def normality(estimator: Fitted, x: Array) -> Array:
    """`-2 ** -(depth / expected depth)`"""
    depths, divisor = _depths(estimator, x), _largest_depth(estimator)
    scaled = depths / divisor if divisor else depths * 0.0 + 1.0
    return -power(2.0, -scaled)


@converts("sklearn.ensemble.IsolationForest", "decision_function", inline=True)
def above_offset(estimator: Fitted, x: Array) -> Array:
    """How far the normality is above the offset."""
    return call(estimator, "score_samples", x) - estimator.offset_


@converts("sklearn.ensemble.IsolationForest", "predict")
def inliers(estimator: Fitted, x: Array) -> Array:
    """-1 for outliers, 1 for the others.

    With a contamination, the offset is the normality of a row of the training data, and a power that differs in its
    last bit decides. So depths are compared: with the largest for which scikit-learn finds an outlier.
    """
    depths, divisor = _depths(estimator, x), _largest_depth(estimator)
    limit = _largest_outlier(divisor, float(estimator.offset_), len(estimator.estimators_))
    return either(depths <= limit, asarray(-1), asarray(1))


def _largest_outlier(divisor: float, offset: float, trees: int) -> float:
    """The largest depth of an outlier, found by halving; -inf where there is none."""

    def is_outlier(depth: float) -> bool:
        depths = np.array([depth])
        scaled = np.divide(depths, divisor, out=np.ones_like(depths), where=divisor != 0)
        return bool((-(2**-scaled) - offset < 0)[0])

    low, high = -1.0, float(trees) * 2.0**20
    if is_outlier(high):
        return float(np.inf)
    if not is_outlier(low):
        return float(-np.inf)
    while np.nextafter(low, high) < high:
        middle = (low + high) / 2
        middle = middle if low < middle < high else float(np.nextafter(low, high))
        low, high = (middle, high) if is_outlier(middle) else (low, middle)
    return low


def predicted_places(tree: Fitted, names: Numbers) -> Numbers:
    """For each node of a classifier's tree the place, in `names`, of the class that it predicts."""
    own = np.asarray(tree.classes_)[np.argmax(tree.tree_.value[:, 0, :], axis=1)]
    return np.searchsorted(names, own)
