"""The nearest centroid, and scores by distances to centroids."""

from __future__ import annotations

import numpy as np

from onnxsmith.numpy import Array, argmax, argmin, asarray, exp, log
from onnxsmith.sklearn.families.distances import Metric, metric_of
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, labels

_NAME = "sklearn.neighbors.NearestCentroid"


def _scores(estimator: Fitted, x: Array) -> Array:
    """Minus the square of the distance to each centroid, in units of each column's deviation, and the prior."""
    if estimator.metric != "euclidean":
        raise NotCovered(f"it has no scores for the metric {estimator.metric!r}")
    deviation = np.asarray(estimator.within_class_std_dev_, np.float64)
    units = np.where(deviation != 0, deviation, 1.0)
    squares = Metric("euclidean").reduced(x.astype(np.float64) / asarray(units), estimator.centroids_ / units)
    return -squares + asarray(2.0 * np.log(estimator.class_prior_))


@converts(_NAME, "predict")
def classes(estimator: Fitted, x: Array) -> Part:
    """The class of the nearest centroid, or with unequal priors of the best score."""
    if np.isclose(estimator.class_prior_, 1 / len(estimator.classes_)).all():
        reduced = metric_of(estimator.metric).reduced(x, estimator.centroids_)
        return labels(estimator.classes_, argmin(reduced, axis=1))
    return labels(estimator.classes_, argmax(_scores(estimator, x), axis=1))


@converts(_NAME, "decision_function")
def decision(estimator: Fitted, x: Array) -> Array:
    """The scores; of two classes their difference."""
    found = _scores(estimator, x)
    return found[:, 1] - found[:, 0] if len(estimator.classes_) == 2 else found


@converts(_NAME, "predict_log_proba")
def log_probabilities(estimator: Fitted, x: Array) -> Array:
    """The scores, less the logarithm of the sum of their exponentials."""
    found = _scores(estimator, x)
    shifted = found - found.max(axis=1, keepdims=True)
    return shifted - log(exp(shifted).sum(axis=1, keepdims=True))


@converts(_NAME, "predict_proba")
def probabilities(estimator: Fitted, x: Array) -> Array:
    """The exponential of the logarithms."""
    return exp(log_probabilities(estimator, x))
