"""Codes of rows in atoms of a dictionary: orthogonal matching pursuit, thresholds, ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import (
    Array,
    arange,
    argmax,
    asarray,
    concatenate,
    equal,
    linalg,
    maximum,
    minimum,
    not_equal,
    sign,
    take,
)
from onnxsmith.numpy import abs as absolute
from onnxsmith.sklearn.families.checking import wide_floats
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, either


@converts(
    "sklearn.decomposition.DictionaryLearning",
    "sklearn.decomposition.MiniBatchDictionaryLearning",
    "sklearn.decomposition.SparseCoder",
    "transform",
)
def coded(estimator: Fitted, x: Array) -> Array:
    """How much of each atom is in each row."""
    dictionary = np.asarray(
        estimator.components_ if hasattr(estimator, "components_") else estimator.dictionary
    )
    rows = wide_floats(x)
    correlation = rows @ asarray(dictionary.T)
    how = estimator.transform_algorithm
    if how == "threshold":
        alpha = estimator.transform_alpha
        if alpha is None:
            alpha = getattr(estimator, "alpha", None)
        code = sign(correlation) * maximum(absolute(correlation) - (1.0 if alpha is None else alpha), 0.0)
        code = maximum(code, 0.0) if estimator.positive_code else code
    elif how == "omp":
        count = estimator.transform_n_nonzero_coefs
        if count is None:
            count = min(max(dictionary.shape[1] / 10, 1), dictionary.shape[0])
        gram = (dictionary @ dictionary.T).astype(rows.dtype)
        code = _pursued(correlation, gram, int(count))
    else:
        raise NotCovered(f"transform_algorithm={how!r}, which solves by going on until it is near enough")
    if not estimator.split_sign:
        return code
    return concatenate([maximum(code, 0.0), -minimum(code, 0.0)], axis=1)


def _pursued(correlation: Array, gram: np.ndarray[Any, Any], count: int) -> Array:
    """Orthogonal matching pursuit: `count` times the atom that is nearest to what is left, then least squares."""
    atoms = gram.shape[0]
    numbers, held = arange(atoms), asarray(gram)
    left, code = correlation, correlation * 0.0
    is_taken: Any = not_equal(code, code)
    places: list[Array] = []
    for k in range(count):
        # One that is taken already is not taken again.
        place = argmax(either(is_taken, -1.0, absolute(left)), axis=1)
        places.append(place)
        is_taken = is_taken | equal(place[:, None], numbers)
        chosen = concatenate([each[:, None] for each in places], axis=1)
        weights = _solved(chosen, correlation, held, k + 1)
        code = correlation * 0.0
        for each, weight in zip(places, weights, strict=True):
            code = code + either(equal(each[:, None], numbers), weight[:, None], 0.0)
        left = correlation - code @ held
    return code


def _solved(chosen: Array, correlation: Array, gram: Array, count: int) -> list[Array]:
    """The weights of the atoms that were chosen, by least squares."""
    rows = arange(correlation.shape[0])
    right = [correlation[rows, chosen[:, k]] for k in range(count)]
    if count == 1:
        return [right[0] / gram[chosen[:, 0], chosen[:, 0]]]
    parts = take(gram, chosen, axis=0)
    inner = concatenate([parts[rows, :, chosen[:, k]][:, :, None] for k in range(count)], axis=2)
    column = concatenate([each[:, None, None] for each in right], axis=1)
    found = linalg.solve(inner, column)
    return [found[:, k, 0] for k in range(count)]


@converts("sklearn.decomposition.SparsePCA", "sklearn.decomposition.MiniBatchSparsePCA", "transform")
def sparse_components(estimator: Fitted, x: Array) -> Array:
    """The weights of components that are nearest to the rows, with a penalty for large ones."""
    held: np.ndarray[Any, np.dtype[np.float64]] = np.asarray(estimator.components_)
    inner: np.ndarray[Any, np.dtype[np.float64]] = held @ held.T + estimator.ridge_alpha * np.eye(len(held))
    rows = x if x.dtype.name in ("float32", "float64") else x.astype("float64")
    projection = asarray(np.linalg.inv(inner) @ held).astype(rows.dtype)
    return (rows - asarray(estimator.mean_).astype(rows.dtype)) @ projection.T
