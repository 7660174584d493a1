"""Linear models: a product with coefficients, and what classifiers make of it, those of networks too."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.numpy import Array, argmax, asarray
from onnxsmith.sklearn.calling import call, here
from onnxsmith.sklearn.families.boosting import inverse_link
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, array_of, labels
from onnxsmith.sklearn.weights import weight


def _linear(estimator: Fitted, x: Array) -> Array:
    coefficients, intercept = (weight(estimator, each, here()) for each in ("coef_", "intercept_"))
    matrix = asarray(coefficients)
    if matrix.ndim == 2 and x.ndim == 2 and x.dtype == matrix.dtype == np.float64:
        # ONNX Runtime up to 1.25 fuses a transposition with MatMul, for which it has no kernel of doubles.
        return array_of(op.Gemm(x.tensor, matrix.tensor, transB=1)) + asarray(intercept)
    return x @ matrix.T + asarray(intercept)


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


@converts("sklearn.neural_network.MLPClassifier", "predict")
def likeliest(estimator: Fitted, x: Array) -> Part:
    """The class of the largest probability; of two, the second where its own is above a half."""
    if estimator._label_binarizer.y_type_.startswith("multilabel"):
        raise NotCovered("")
    found = call(estimator, "predict_proba", x)
    is_binary = len(estimator.classes_) == 2
    index = (found[:, 1] > 0.5).astype("int64") if is_binary else argmax(found, axis=1)
    return labels(estimator.classes_, index)
