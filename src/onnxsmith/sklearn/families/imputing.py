"""Missing values: what other columns say of them."""

from __future__ import annotations

import math

from onnxsmith.core.user_values import UserValue
from onnxsmith.numpy import (
    Array,
    clip,
    concatenate,
    isnan,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.checking import floats
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
