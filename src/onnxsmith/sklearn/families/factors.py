"""Factors of matrices that are not negative, and topics: what is found by going on until it is near enough."""

from __future__ import annotations

import numpy as np

from onnxsmith.numpy import Array, asarray, stage
from onnxsmith.sklearn import iterating
from onnxsmith.sklearn.families.checking import wide_floats
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted


@converts("sklearn.decomposition.NMF", "transform")
def non_negative(estimator: Fitted, x: Array) -> Array:
    """The weights of the components, by coordinate descent."""
    if estimator.solver != "cd" or estimator.shuffle:
        raise NotCovered("solver='mu' and shuffle=True")
    rows = wide_floats(x)
    held = np.asarray(estimator.components_).astype(rows.dtype)
    count = held.shape[1] * estimator.alpha_W
    inner = held @ held.T + np.eye(held.shape[0], dtype=held.dtype) * count * (1.0 - estimator.l1_ratio)
    products = rows @ asarray(held.T) - count * estimator.l1_ratio
    inner = inner.astype(rows.dtype)
    return stage(
        iterating.descended, products, asarray(inner), float(estimator.tol), estimator.max_iter, held.shape[0]
    )


@converts("sklearn.decomposition.LatentDirichletAllocation", "transform")
def allocated(estimator: Fitted, x: Array) -> Array:
    """How much of each topic is in each row."""
    rows = wide_floats(x)
    words = np.asarray(estimator.exp_dirichlet_component_).astype(rows.dtype)
    return stage(
        iterating.topics,
        rows,
        asarray(words),
        float(estimator.doc_topic_prior_),
        float(estimator.mean_change_tol),
        int(estimator.max_doc_update_iter),
    )
