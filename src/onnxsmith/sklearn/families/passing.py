"""Steps that hand on their input, columns and text included: searches, functions that do nothing, imputers of text."""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.categories import columns_of
from onnxsmith.sklearn.families.encoding import joined_text
from onnxsmith.sklearn.missing import text_of
from onnxsmith.sklearn.string_operators import is_text
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Columns, Fitted, Given, Result


@converts(
    *(f"sklearn.model_selection.{name}" for name in ("GridSearchCV", "RandomizedSearchCV")),
    *(f"sklearn.model_selection.{name}" for name in ("HalvingGridSearchCV", "HalvingRandomSearchCV")),
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples"),
    "inverse_transform",
    inline=True,
)
def searched(estimator: Fitted, x: Given, *, method: str) -> Result:
    """The result of the best estimator."""
    return call(estimator.best_estimator_, method, x)


@converts("sklearn.preprocessing.FunctionTransformer", "transform", columns=True)
def unchanged(estimator: Fitted, x: Given) -> Result:
    """The input, where there is no function; a function is recorded."""
    if estimator.func is not None or isinstance(x, Array):
        raise NotCovered("")  # its function is recorded
    return x


@converts("sklearn.impute.SimpleImputer", "transform", columns=True)
def filled(estimator: Fitted, x: Given) -> Result:
    """Text in the places of missing text; numbers are left to the class's own code."""
    columns = columns_of(x) if isinstance(x, Columns | Tensor) else []
    if not columns or not all(isinstance(each, Tensor) for each in columns):
        raise NotCovered("its columns are numbers")
    missing = text_of(estimator.missing_values)
    if missing is None or estimator.add_indicator:
        raise NotCovered("it looks for numbers among text, or says where it found something")
    made: list[Tensor] = []
    for column, value in zip(columns, estimator.statistics_, strict=True):
        put = text_of(value)
        if put is None or (put == missing and not estimator.keep_empty_features):
            raise NotCovered(f"it puts {value!r} in the place of missing text")
        tensor = cast(Tensor, column)
        made.append(op.Where(is_text(tensor, missing), np.array(put, object), tensor))
    return joined_text(made)
