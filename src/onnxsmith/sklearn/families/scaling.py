"""Scaling, which subtracts and divides by numbers for each column; and the selection of columns."""

from __future__ import annotations

import numpy as np

from onnxsmith.numpy import Array, asarray, clip, take
from onnxsmith.sklearn.families.checking import floats
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted


@converts("sklearn.preprocessing.StandardScaler", "transform")
def standard(estimator: Fitted, x: Array) -> Array:
    """`(x - mean) / scale`"""
    made = floats(x)
    if estimator.with_mean:
        made = made - asarray(estimator.mean_).astype(made.dtype)
    if estimator.with_std:
        made = made / asarray(estimator.scale_).astype(made.dtype)
    return made


@converts("sklearn.preprocessing.StandardScaler", "inverse_transform")
def standard_back(estimator: Fitted, x: Array) -> Array:
    """`x * scale + mean`"""
    made = floats(x)
    if estimator.with_std:
        made = made * asarray(estimator.scale_).astype(made.dtype)
    if estimator.with_mean:
        made = made + asarray(estimator.mean_).astype(made.dtype)
    return made


@converts("sklearn.preprocessing.MinMaxScaler", "transform")
def between_bounds(estimator: Fitted, x: Array) -> Array:
    """`x * scale + min`"""
    made = floats(x)
    made = made * asarray(estimator.scale_).astype(made.dtype) + asarray(estimator.min_).astype(made.dtype)
    if estimator.clip:
        made = clip(made, *estimator.feature_range)
    return made.astype(floats(x).dtype)


# -- selection -----------------------------------------------------------------------------------------


@converts(
    *(
        f"sklearn.feature_selection.{name}"
        for name in ("GenericUnivariateSelect", "RFE", "RFECV", "SelectFdr")
    ),
    *(
        f"sklearn.feature_selection.{name}"
        for name in ("SelectFpr", "SelectFromModel", "SelectFwe", "SelectKBest")
    ),
    *(
        f"sklearn.feature_selection.{name}"
        for name in ("SelectPercentile", "SequentialFeatureSelector", "VarianceThreshold")
    ),
    "transform",
)
def selected(estimator: Fitted, x: Array) -> Array:
    """The columns of the support."""
    return take(x, asarray(np.flatnonzero(estimator.get_support())), axis=1)
