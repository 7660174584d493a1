"""Missing values: what other columns or other rows say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import (
    Array,
    argsort,
    asarray,
    clip,
    concatenate,
    float64,
    isnan,
    take,
    take_along_axis,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.checking import floats
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, either


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


@converts("sklearn.impute.IterativeImputer", "transform")
def iterated(estimator: Fitted, x: Array) -> Array:
    """Each column in turn is predicted from the others, as often as when fitting."""
    if not _is_nan(estimator.missing_values) or estimator.sample_posterior:
        raise NotCovered("missing values other than NaN, and sample_posterior=True")
    if estimator.add_indicator:
        raise NotCovered("add_indicator=True")
    rows = floats(x)
    is_missing = isnan(rows)
    made: Array = call(estimator.initial_imputer_, "transform", rows)
    columns = [made[:, k] for k in range(estimator.n_features_in_)]
    if made.shape[1] != estimator.n_features_in_:
        raise NotCovered("columns without any value")
    for turn in estimator.imputation_sequence_ if estimator.n_iter_ else ():
        k = int(turn.feat_idx)
        others = concatenate([columns[int(other)][:, None] for other in turn.neighbor_feat_idx], axis=1)
        found: Array = call(turn.estimator, "predict", others)
        found = clip(found, float(estimator._min_value[k]), float(estimator._max_value[k]))
        columns[k] = either(is_missing[:, k], found.astype(rows.dtype), columns[k])
    return either(is_missing, concatenate([each[:, None] for each in columns], axis=1), rows)


@converts("sklearn.impute.KNNImputer", "transform")
def from_neighbours(estimator: Fitted, x: Array) -> Array:
    """The mean of the nearest rows that have the column; of the column where none is comparable."""
    if not _is_nan(estimator.missing_values) or estimator.metric != "nan_euclidean":
        raise NotCovered("missing values other than NaN, and other distances than nan_euclidean")
    if estimator.add_indicator or estimator.weights not in ("uniform", "distance"):
        raise NotCovered("add_indicator=True, and weights that are a function")
    rows = floats(x)
    held = np.asarray(estimator._fit_X)  # the only place where they are kept
    if np.isnan(held).all(axis=0).any():
        raise NotCovered("columns without any value")
    away = _distances(rows.astype(float64), held.astype(np.float64))
    columns = [_imputed(estimator, rows[:, k], away, held[:, k]) for k in range(held.shape[1])]
    return concatenate([each[:, None] for each in columns], axis=1)


def _distances(rows: Array, held: np.ndarray[Any, Any]) -> Array:
    """Between what two rows both have, scaled up to all columns; NaN where that is nothing."""
    is_here = ~isnan(rows)
    is_there = asarray(~np.isnan(held))
    apart = rows[:, None, :] - asarray(held)[None, :, :]
    both = is_here[:, None, :] & is_there[None, :, :]
    total = either(both, apart * apart, 0.0).sum(axis=2)
    count = both.astype(float64).sum(axis=2)
    return either(count == 0, np.nan, total / either(count == 0, 1.0, count) * held.shape[1]) ** 0.5


def _imputed(estimator: Fitted, column: Array, away: Array, held: np.ndarray[Any, Any]) -> Array:
    donors = np.flatnonzero(~np.isnan(held))
    count = min(int(estimator.n_neighbors), len(donors))
    near = take(away, asarray(donors), axis=1)
    order = argsort(either(isnan(near), np.inf, near), axis=1, stable=True)[:, :count]
    distances = _along(near, order)
    values = take(asarray(held[donors].astype(np.float64)), order)
    if estimator.weights == "uniform":
        weights = either(isnan(distances), 0.0, 1.0)
    else:
        is_same = distances == 0
        has_same = is_same.any(axis=1, keepdims=True)
        inverse = 1.0 / either(is_same, 1.0, distances)
        weights = either(has_same, is_same.astype(float64), either(isnan(distances), 0.0, inverse))
    total = weights.sum(axis=1)
    mean = (values * weights).sum(axis=1) / either(total == 0, 1.0, total)
    found = either(total == 0, float(np.nanmean(held)), mean)
    return either(isnan(column), found.astype(column.dtype), column)


def _along(values: Array, order: Array) -> Array:
    return take_along_axis(values, order, axis=1)
