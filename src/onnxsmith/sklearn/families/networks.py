"""Networks that `onnxsmith.sklearn` trains: their own models, with labels and probabilities behind the scores."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, argmax, concatenate
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, array_of, labels

_CLASSIFIER = "onnxsmith.sklearn.networks.estimators.NeuralNetClassifier"
_REGRESSOR = "onnxsmith.sklearn.networks.estimators.NeuralNetRegressor"


def _scores(estimator: Fitted, x: Array) -> Tensor:
    """The scores of the network on rows, in its own element type."""
    model = estimator.model_
    kind = model.inputs[0].type.dtype
    found: Any = model(op.Cast(x.tensor, to=kind))
    return cast(Tensor, found[0] if isinstance(found, tuple) else found)


def _probabilities(estimator: Fitted, x: Array) -> Array:
    scores = _scores(estimator, x)
    if estimator.gives_probabilities_:
        return array_of(scores)
    if estimator.out_activation_ == "softmax":
        return array_of(op.Softmax(scores, axis=1))
    return array_of(op.Sigmoid(scores))


@converts(_CLASSIFIER, "predict_proba")
def probabilities(estimator: Fitted, x: Array) -> Array:
    """The probability of each class; a single score is that of the second."""
    found = _probabilities(estimator, x)
    if int(found.shape[1]) > 1 or estimator.is_multilabel_:
        return found
    return concatenate([1.0 - found, found], axis=1)


@converts(_CLASSIFIER, "predict_log_proba")
def log_probabilities(estimator: Fitted, x: Array) -> Array:
    """The logarithms of the probabilities."""
    return array_of(op.Log(probabilities(estimator, x).tensor))


@converts(_CLASSIFIER, "predict")
def classes(estimator: Fitted, x: Array) -> Part:
    """The class of each row."""
    found = _probabilities(estimator, x)
    if estimator.is_multilabel_:
        return (found > 0.5).astype(np.int64)
    if int(found.shape[1]) > 1:
        return labels(estimator.classes_, argmax(found, axis=1))
    if len(estimator.classes_) < 2:
        raise NotCovered("it knows one class only")
    return labels(estimator.classes_, (found[:, 0] > 0.5).astype(np.int64))


@converts(_REGRESSOR, "predict")
def numbers(estimator: Fitted, x: Array) -> Array:
    """The number of each row, or those of all columns."""
    found = array_of(_scores(estimator, x))
    return found[:, 0] if estimator.is_flat_ else found
