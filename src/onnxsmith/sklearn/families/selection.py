"""Selection of columns: what was chosen when fitting is taken."""

from __future__ import annotations

import numpy as np

from onnxsmith.numpy import Array, asarray, take
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted


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
