"""Clusters: the number of the nearest centre; and classes by the nearest centroid."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import Array, argmax, argmin, asarray, exp, float64, full_like, log
from onnxsmith.sklearn.families.checking import wide_floats
from onnxsmith.sklearn.families.distances import Metric, metric_of
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Inner, Part, either, labels


def nearest(x: Array, centers: np.ndarray[Any, Any]) -> Array:
    """The place of the nearest of some rows, by their squares, as scikit-learn computes it: |c|² - 2 x·c."""
    held = centers.astype(x.dtype)
    squares = (held * held).sum(axis=1)
    return argmin(asarray(squares) - 2 * (x @ asarray(held).T), axis=1)


@converts("sklearn.cluster.KMeans", "sklearn.cluster.MiniBatchKMeans", "predict")
def k_means(estimator: Fitted, x: Array) -> Array:
    """The nearest centre."""
    return nearest(wide_floats(x), estimator.cluster_centers_).astype("int32")


@converts("sklearn.cluster.BisectingKMeans", "predict")
def bisecting(estimator: Fitted, x: Array) -> Array:
    """The leaf of a tree in which the nearer of two centres decides."""
    rows = wide_floats(x)
    mean: Any = getattr(estimator, "_X_mean", 0.0)

    def below(node: Inner) -> Array:
        if node.left is None:
            return full_like(rows[:, 0], int(node.label), dtype="int32")
        centers = np.vstack((node.left.center, node.right.center)) + mean
        return either(nearest(rows, centers) == 0, below(node.left), below(node.right))

    return below(estimator._bisecting_tree)  # the only place where the tree is kept


@converts("sklearn.cluster.AffinityPropagation", "sklearn.cluster.MeanShift", "predict")
def centers(estimator: Fitted, x: Array) -> Array:
    """The nearest centre, in double."""
    if not estimator.cluster_centers_.shape[0]:
        raise NotCovered("it found no clusters")
    return nearest(x.astype(float64), estimator.cluster_centers_)


@converts("sklearn.cluster.Birch", "predict")
def birch(estimator: Fitted, x: Array) -> Part:
    """The label of the nearest centre of the tree."""
    place = nearest(x.astype(float64), estimator.subcluster_centers_)
    return labels(estimator.subcluster_labels_, place)


# -- classes by centroids ------------------------------------------------------------------------------


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
