"""Linear models: a product with coefficients, and what classifiers make of it."""

from __future__ import annotations

from onnxsmith.numpy import Array, argmax, asarray
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.boosting import inverse_link
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted, Part, labels


def _linear(estimator: Fitted, x: Array) -> Array:
    return x @ asarray(estimator.coef_).T + asarray(estimator.intercept_)


@converts("sklearn.linear_model.LinearRegression", "sklearn.linear_model.Ridge", "predict")
def regression(estimator: Fitted, x: Array) -> Array:
    """`x @ coef.T + intercept`"""
    return _linear(estimator, x)


@converts("sklearn.linear_model.LogisticRegression", "decision_function")
def scores(estimator: Fitted, x: Array) -> Array:
    """Of two classes one number for each row, of more one for each class."""
    made = _linear(estimator, x)
    return made[:, 0] if estimator.coef_.shape[0] == 1 else made


@converts("sklearn.linear_model.LogisticRegression", "predict")
def chosen(estimator: Fitted, x: Array) -> Part:
    """The class of the largest score; of two, the second where the score is above 0."""
    found = call(estimator, "decision_function", x)
    index = argmax(found, axis=1) if found.ndim == 2 else (found > 0).astype("int64")
    return labels(estimator.classes_, index)


@converts(
    *("sklearn.linear_model.GammaRegressor", "sklearn.linear_model.PoissonRegressor"),
    "sklearn.linear_model.TweedieRegressor",
    "predict",
)
def generalized(estimator: Fitted, x: Array) -> Array:
    """The inverse link of the loss, on the linear model."""
    return inverse_link(estimator._base_loss, _linear(estimator, x))
