"""Missing values: what other columns and the nearest rows say of them."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.numpy import (
    Array,
    asarray,
    clip,
    concatenate,
    equal,
    isinf,
    isnan,
    sqrt,
    take,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.checking import floats
from onnxsmith.sklearn.families.distances import Numbers
from onnxsmith.sklearn.families.neighbours import smallest, weights_of
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, either


def _is_nan(value: UserValue) -> bool:
    return isinstance(value, float) and math.isnan(value)  # numpy's double is a float of Python's


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


# -- by neighbours -------------------------------------------------------------------------------------


@converts("sklearn.impute.KNNImputer", "transform")
def nearest_rows(estimator: Fitted, x: Array) -> Array:
    """Column by column, the mean of what the nearest rows have that have something there."""
    if estimator.metric != "nan_euclidean":
        raise NotCovered(f"the metric {estimator.metric!r} is not known")
    given = floats(x)
    is_nan = isinstance(estimator.missing_values, float) and np.isnan(estimator.missing_values)
    missing = isnan(given) if is_nan else equal(given, estimator.missing_values)
    is_used = np.asarray(estimator._valid_mask)
    fitted, is_absent = np.asarray(estimator._fit_X), np.asarray(estimator._mask_fit_X)
    distances = _distances(given, missing, fitted, is_absent)
    columns: list[Array] = []
    for column in range(fitted.shape[1]):
        if is_used[column]:
            donors = np.flatnonzero(~is_absent[:, column])
            filled = _mean(estimator, take(distances, asarray(donors), axis=1), fitted[donors, column])
            columns.append(either(missing[:, column], filled.astype(given.dtype), given[:, column])[:, None])
        elif estimator.keep_empty_features:
            columns.append(either(missing[:, column : column + 1], 0.0, 0.0).astype(given.dtype))
    if estimator.add_indicator:
        columns.append(call(estimator.indicator_, "transform", x).astype(given.dtype))
    return concatenate(columns, axis=1)


def _distances(x: Array, missing: Array, fitted: Numbers, is_absent: Numbers) -> Array:
    """Euclidean distances by the columns that both rows have, scaled to all columns; infinite where they share none."""
    wide = x.astype(np.float64)
    width = fitted.shape[1]
    total = shared = asarray(np.zeros((1, len(fitted))))
    for column in range(width):
        own = ~missing[:, column : column + 1] & asarray(~is_absent[:, column])
        known = np.where(is_absent[:, column], 0.0, fitted[:, column]).astype(np.float64)
        difference = either(own, wide[:, column : column + 1] - asarray(known), 0.0)
        total = total + difference * difference
        shared = shared + own.astype(np.float64)
    is_any = shared > 0.0
    return either(is_any, sqrt(total / either(is_any, shared, 1.0) * float(width)), np.inf)


def _mean(estimator: Fitted, distances: Array, values: Numbers) -> Array:
    """The mean of the nearest rows' values; of all values where no row is at any distance."""
    nearest, places = smallest(distances, min(int(estimator.n_neighbors), len(values)))
    is_far = isinf(nearest)
    weights = weights_of(nearest, estimator.weights)
    shares = (~is_far).astype(np.float64) if weights is None else either(is_far, 0.0, weights)
    total = shares.sum(axis=1)
    found = take(asarray(values.astype(np.float64)), places)
    has_any = total > 0.0
    made = (found * shares).sum(axis=1) / either(has_any, total, 1.0)
    return either(has_any, made, float(np.mean(values)))
