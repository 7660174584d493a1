"""Nearest neighbours: classes, numbers, graphs of distances, local outliers.

Of rows that are equally near, the first that was fitted counts, as in scikit-learn's `brute`. Its trees take the one
that they come to first, which depends on how they were built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import (
    Array,
    argmax,
    asarray,
    divide,
    equal,
    isinf,
    maximum,
    mean,
    stack,
    take,
    zeros,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.distances import Metric, Numbers, metric_of
from onnxsmith.sklearn.families.tree_tables import sum_in_order
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, Result, array_of, either, labels


def _metric(estimator: Fitted) -> Metric:
    is_brute = estimator._fit_method == "brute"
    return metric_of(estimator.effective_metric_, estimator.effective_metric_params_, by_product=is_brute)


def _known(estimator: Fitted) -> Numbers:
    rows = estimator._fit_X
    if not isinstance(rows, np.ndarray):
        raise NotCovered("it was fitted on a sparse matrix")
    return cast(Numbers, rows)


def smallest(values: Array, count: int) -> tuple[Array, Array]:
    """The smallest numbers of each row in ascending order, and their places; the first of equal ones first."""
    made = op.TopK(values.tensor, np.array([count]), axis=-1, largest=0, sorted=1)
    found, places = cast("tuple[Tensor, Tensor]", made)
    return array_of(found), array_of(places)


def nearest(estimator: Fitted, x: Array, count: int) -> tuple[Array, Array]:
    """The distances and the places of the nearest rows, in ascending order."""
    metric = _metric(estimator)
    reduced, places = smallest(metric.reduced(x, _known(estimator)), count)
    return metric.distances(reduced), places


def weights_of(distances: Array, weights: str | Callable[..., Any] | None) -> Array | None:
    """How much each neighbour counts; None where all count the same."""
    if weights in (None, "uniform"):
        return None
    if weights != "distance":
        raise NotCovered("its weights are a function")
    made = divide(1.0, distances)
    is_here = isinf(made)
    return either(is_here.any(axis=1, keepdims=True), is_here.astype(np.float64), made)


# -- the nearest -------------------------------------------------------------------------------------


def _outputs(estimator: Fitted) -> list[tuple[Numbers, Numbers]]:
    """For each output the places of the fitted rows' classes, and the classes."""
    if estimator.outputs_2d_:
        return [(estimator._y[:, k], names) for k, names in enumerate(estimator.classes_)]
    return [(np.asarray(estimator._y).ravel(), estimator.classes_)]


def _votes(places: Array, weights: Array | None, fitted: Numbers, count: int) -> Array:
    """The votes for each class, of shape (rows, classes)."""
    chosen = take(asarray(np.asarray(fitted, np.int64)), places)
    shares = equal(chosen[:, :, None], asarray(np.arange(count))).astype(np.float64)
    if weights is not None:
        shares = shares * weights[:, :, None]
    return sum_in_order(shares.transpose(1, 0, 2))


def _nearest_votes(estimator: Fitted, x: Array) -> list[Array]:
    distances, places = nearest(estimator, x, int(estimator.n_neighbors))
    weights = weights_of(distances, estimator.weights)
    return [_votes(places, weights, fitted, len(names)) for fitted, names in _outputs(estimator)]


@converts("sklearn.neighbors.KNeighborsClassifier", "predict_proba")
def nearest_probabilities(estimator: Fitted, x: Array) -> Result:
    """The shares of the classes among the neighbours."""
    found = [votes / votes.sum(axis=1, keepdims=True) for votes in _nearest_votes(estimator, x)]
    return tuple(found) if estimator.outputs_2d_ else found[0]


@converts("sklearn.neighbors.KNeighborsClassifier", "predict")
def nearest_classes(estimator: Fitted, x: Array) -> Part:
    """The class that has the most; the first of equal ones."""
    return _columns(estimator, [argmax(votes, axis=1) for votes in _nearest_votes(estimator, x)])


def _columns(estimator: Fitted, places: Sequence[Array]) -> Part:
    """Classes by their places; of several outputs side by side."""
    names = [each for _, each in _outputs(estimator)]
    chosen = [labels(each, place) for each, place in zip(names, places, strict=True)]
    if not estimator.outputs_2d_:
        return chosen[0]
    if any(not isinstance(each, Array) for each in chosen):
        raise NotCovered("it has several outputs of text")
    return stack(cast("list[Array]", chosen), axis=1).astype(names[0].dtype)


@converts("sklearn.neighbors.KNeighborsRegressor", "predict")
def nearest_numbers(estimator: Fitted, x: Array) -> Array:
    """The mean of the neighbours' numbers."""
    distances, places = nearest(estimator, x, int(estimator.n_neighbors))
    weights = weights_of(distances, estimator.weights)
    fitted = np.asarray(estimator._y)
    found = take(asarray(fitted.reshape(len(fitted), -1).astype(np.float64)), places, axis=0)
    if weights is None:
        made = mean(found, axis=1)
    else:
        made = (found * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
    return made[:, 0] if fitted.ndim == 1 else made


@converts("sklearn.neighbors.KNeighborsTransformer", "transform")
def nearest_graph(estimator: Fitted, x: Array) -> Array:
    """The distances to the nearest rows, or 1 for them; 0 for all others. Dense, where scikit-learn's is sparse."""
    is_distance = estimator.mode == "distance"
    distances, places = nearest(estimator, x, int(estimator.n_neighbors) + is_distance)
    values = distances if is_distance else distances * 0.0 + 1.0
    empty = zeros((x.shape[0], len(_known(estimator))))
    return array_of(op.ScatterElements(empty.tensor, places.tensor, values.tensor, axis=1))


# -- all within a radius -----------------------------------------------------------------------------


def _within(estimator: Fitted, x: Array) -> tuple[Array, Array]:
    """Flags of the fitted rows that are within the radius, and the distances."""
    metric = _metric(estimator)
    reduced = metric.reduced(x, _known(estimator))
    return reduced <= metric.reduce(float(estimator.radius)), metric.distances(reduced)


def _shares(estimator: Fitted, x: Array) -> tuple[Array, Array]:
    """How much each fitted row counts, and whether a row has neighbours at all."""
    is_near, distances = _within(estimator, x)
    has_any = is_near.any(axis=1)
    if estimator.weights in (None, "uniform"):
        return is_near.astype(np.float64), has_any
    if estimator.weights != "distance":
        raise NotCovered("its weights are a function")
    is_here = is_near & (distances == 0.0)
    inverse = either(is_near, divide(1.0, either(is_here, 1.0, distances)), 0.0)
    return either(is_here.any(axis=1, keepdims=True), is_here.astype(np.float64), inverse), has_any


def _radius_votes(estimator: Fitted, x: Array) -> list[Array]:
    if estimator.outputs_2d_:
        raise NotCovered("it has several outputs")
    shares, has_any = _shares(estimator, x)
    found: list[Array] = []
    for k, (fitted, names) in enumerate(_outputs(estimator)):
        votes = shares @ asarray((np.asarray(fitted)[:, None] == np.arange(len(names))).astype(np.float64))
        if estimator.outlier_label_ is not None:
            alone = (np.asarray(names) == estimator.outlier_label_[k]).astype(np.float64)
            votes = either(has_any[:, None], votes, asarray(alone))
        found.append(votes)
    return found


@converts("sklearn.neighbors.RadiusNeighborsClassifier", "predict_proba")
def radius_probabilities(estimator: Fitted, x: Array) -> Array:
    """The shares of the classes among the neighbours.

    A row without any has the label for outliers, and NaN where none was given, where scikit-learn raises.
    """
    votes = _radius_votes(estimator, x)[0]
    total = votes.sum(axis=1, keepdims=True)
    return votes / (total if estimator.outlier_label_ is None else either(total == 0.0, 1.0, total))


@converts("sklearn.neighbors.RadiusNeighborsClassifier", "predict")
def radius_classes(estimator: Fitted, x: Array) -> Part:
    """The class that has the most. A row without neighbours has the label for outliers, or no place that there is."""
    names = np.asarray(estimator.classes_)
    votes = _radius_votes(estimator, x)[0]
    has_any = votes.sum(axis=1) > 0.0
    if estimator.outlier_label_ is not None and estimator.outlier_label_[0] not in names:
        names = np.append(names, estimator.outlier_label_[0])
    return labels(names, either(has_any, argmax(votes, axis=1), len(estimator.classes_)))


@converts("sklearn.neighbors.RadiusNeighborsRegressor", "predict")
def radius_numbers(estimator: Fitted, x: Array) -> Array:
    """The mean of the neighbours' numbers; NaN where there are none."""
    shares, has_any = _shares(estimator, x)
    fitted = np.asarray(estimator._y)
    wide = fitted.reshape(len(fitted), -1).astype(np.float64)
    total = either(has_any, shares.sum(axis=1), 1.0)[:, None]
    made = either(has_any[:, None], (shares @ asarray(wide)) / total, np.nan)
    return made[:, 0] if fitted.ndim == 1 else made


@converts("sklearn.neighbors.RadiusNeighborsTransformer", "transform")
def radius_graph(estimator: Fitted, x: Array) -> Array:
    """The distances to all rows within the radius, or 1 for them; 0 for all others."""
    is_near, distances = _within(estimator, x)
    return either(is_near, distances if estimator.mode == "distance" else 1.0, 0.0)


# -- local outliers ----------------------------------------------------------------------------------


@converts("sklearn.neighbors.LocalOutlierFactor", "score_samples")
def local_normality(estimator: Fitted, x: Array) -> Array:
    """The opposite of how much denser the neighbours lie than the row itself."""
    count = int(estimator.n_neighbors_)
    distances, places = nearest(estimator, x, count)
    if x.dtype == np.float32:
        distances = distances.astype(np.float32)
    reach = take(asarray(np.ascontiguousarray(estimator._distances_fit_X_[:, count - 1])), places)
    density = 1.0 / (mean(maximum(distances, reach), axis=1) + 1e-10)
    return -mean(take(asarray(estimator._lrd), places) / density[:, None], axis=1)


@converts("sklearn.neighbors.LocalOutlierFactor", "decision_function", inline=True)
def local_decision(estimator: Fitted, x: Array) -> Array:
    """How far the normality is above the offset."""
    return call(estimator, "score_samples", x) - estimator.offset_


@converts("sklearn.neighbors.LocalOutlierFactor", "predict", inline=True)
def local_inliers(estimator: Fitted, x: Array) -> Array:
    """-1 for outliers, 1 for the others."""
    if not estimator.novelty:
        raise NotCovered("without novelty=True it is for the rows that it was fitted on alone")
    return either(call(estimator, "decision_function", x) < 0, asarray(-1), asarray(1))
