"""Kernels between rows, and what is made of them: kernel ridge, Nystroem's approximation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onnxsmith.numpy import Array, asarray, exp, sqrt, tanh
from onnxsmith.sklearn.families.distances import Metric, Numbers
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted


def kernel(name: str | Callable[..., Any], parameters: Mapping[str, Any], x: Array, known: Numbers) -> Array:
    """`pairwise_kernels` between rows and known rows; raises for kernels that are functions."""
    wide = x.astype(np.float64)
    rows = np.asarray(known, np.float64)
    if name == "precomputed":
        return wide
    gamma = parameters.get("gamma")
    scale = 1.0 / rows.shape[1] if gamma is None else float(gamma)
    if name == "rbf":
        return exp(-scale * Metric("euclidean").reduced(wide, rows))
    if name == "laplacian":
        return exp(-scale * Metric("manhattan").reduced(wide, rows))
    if name == "cosine":
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        rows = rows / np.where(lengths == 0, 1.0, lengths)
        own = sqrt((wide * wide).sum(axis=1, keepdims=True))
        return (wide / (own + (own <= 0.0).astype(np.float64))) @ asarray(np.ascontiguousarray(rows.T))
    if name not in ("linear", "poly", "polynomial", "sigmoid"):
        raise NotCovered(f"the kernel {name!r} is not known")
    products = wide @ asarray(np.ascontiguousarray(rows.T))
    if name == "linear":
        return products
    coef0 = parameters.get("coef0")
    scaled = scale * products + (1.0 if coef0 is None else float(coef0))
    if name == "sigmoid":
        return tanh(scaled)
    degree = parameters.get("degree")
    return scaled ** (3.0 if degree is None else float(degree))


def _parameters(estimator: Fitted) -> dict[str, Any]:
    if callable(estimator.kernel) or estimator.kernel_params:
        raise NotCovered("its kernel is a function, or has parameters of its own")
    return {"gamma": estimator.gamma, "degree": estimator.degree, "coef0": estimator.coef0}


@converts("sklearn.kernel_ridge.KernelRidge", "predict")
def ridge(estimator: Fitted, x: Array) -> Array:
    """The kernel with the rows it was fitted on, times the dual coefficients."""
    found = kernel(estimator.kernel, _parameters(estimator), x, estimator.X_fit_)
    return found @ asarray(np.asarray(estimator.dual_coef_, np.float64))


@converts("sklearn.kernel_approximation.Nystroem", "transform")
def nystroem(estimator: Fitted, x: Array) -> Array:
    """The kernel with the components, times what makes them independent."""
    found = kernel(estimator.kernel, _parameters(estimator), x, estimator.components_)
    return found @ asarray(np.ascontiguousarray(np.asarray(estimator.normalization_, np.float64).T))
