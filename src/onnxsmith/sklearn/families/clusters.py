"""Clusters: the number of the nearest centre."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import Array, argmin, asarray, float64, full_like
from onnxsmith.sklearn.families.checking import wide_floats
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
