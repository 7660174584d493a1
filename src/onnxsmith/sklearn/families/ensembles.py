"""Ensembles of estimators of any kind: voting, stacking, calibration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, concatenate, equal, float64, special, zeros
from onnxsmith.sklearn.calling import call, named_step
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Given, Inner, Part, either, labels

# -- voting ------------------------------------------------------------------------------------------------


@converts("sklearn.ensemble.VotingClassifier", "predict", columns=True)
def vote(estimator: Fitted, x: Given) -> Part:
    """The class with the most votes, or with the largest mean probability."""
    classes = estimator.le_.classes_
    if estimator.voting == "soft":
        return labels(classes, argmax(call(estimator, "predict_proba", x), axis=1))
    given = estimator.weights
    weights = [1.0] * len(estimator.estimators_) if given is None else _present(estimator, given)
    places = asarray(np.arange(len(classes)))
    votes: Any = 0.0
    for name, each, weight in zip(_names(estimator), estimator.estimators_, weights, strict=True):
        chosen: Array = named_step(name, each, "predict", x)
        votes = votes + equal(chosen[:, None], places).astype(float64) * float(weight)
    return labels(classes, argmax(votes, axis=1))


@converts("sklearn.ensemble.VotingClassifier", "predict_proba", columns=True)
def mean_probabilities(estimator: Fitted, x: Given) -> Array:
    """The mean of what all estimators say, by their weights."""
    return _mean(estimator, x, "predict_proba")


@converts("sklearn.ensemble.VotingRegressor", "predict", columns=True)
def mean_prediction(estimator: Fitted, x: Given) -> Array:
    """The same for numbers."""
    return _mean(estimator, x, "predict")


def _mean(estimator: Fitted, x: Given, method: str) -> Array:
    named = zip(_names(estimator), estimator.estimators_, strict=True)
    given: list[Part] = [named_step(name, each, method, x) for name, each in named]
    made = [each for each in given if isinstance(each, Array)]
    if len(made) < len(given):
        raise NotCovered("its estimators give no numbers")
    weights = [1.0] * len(made) if estimator.weights is None else _present(estimator, estimator.weights)
    parts = [each * float(weight) for each, weight in zip(made, weights, strict=True)]
    return sum(parts[1:], parts[0]) / float(sum(weights))


def _names(estimator: Fitted) -> list[str]:
    return [name for name, each in estimator.estimators if not isinstance(each, str)]


def _present(estimator: Fitted, weights: Iterable[float]) -> list[float]:
    """Those of the estimators that were not dropped."""
    pairs = zip(estimator.estimators, weights, strict=True)
    return [weight for (_, each), weight in pairs if not isinstance(each, str)]


# -- stacking ----------------------------------------------------------------------------------------------


@converts(
    "sklearn.ensemble.StackingClassifier", "sklearn.ensemble.StackingRegressor", "transform", columns=True
)
def stacked(estimator: Fitted, x: Given) -> Array:
    """The predictions of the first estimators, side by side; of two classes one probability."""
    parts: list[Array] = []
    is_binary = hasattr(estimator, "classes_") and len(estimator.classes_) == 2
    named = zip(_names(estimator), estimator.estimators_, estimator.stack_method_, strict=True)
    for name, each, method in named:
        made: Any = named_step(name, each, method, x)
        if not isinstance(made, Array):
            raise NotCovered(f"'{name}' gives no single array of numbers")
        if made.ndim == 1:
            parts.append(made.reshape((-1, 1)))
        else:
            parts.append(made[:, 1:] if method == "predict_proba" and is_binary else made)
    if estimator.passthrough:
        if not isinstance(x, Array):
            raise NotCovered("passthrough=True with columns")
        parts.append(x)
    return concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


@converts("sklearn.ensemble.StackingRegressor", "predict", columns=True)
def stacked_regression(estimator: Fitted, x: Given) -> Array:
    """The result of the last estimator on the predictions of the first ones."""
    return named_step(
        "final_estimator", estimator.final_estimator_, "predict", call(estimator, "transform", x)
    )


@converts(
    "sklearn.ensemble.StackingClassifier", "predict", "predict_proba", "decision_function", columns=True
)
def stacked_classes(estimator: Fitted, x: Given, *, method: str) -> Part:
    """The same, with the classes of fitting."""
    if isinstance(getattr(estimator, "_label_encoder", None), list):
        raise NotCovered("it gives several labels for each row")
    made: Part = named_step(
        "final_estimator", estimator.final_estimator_, method, call(estimator, "transform", x)
    )
    if method != "predict" or not isinstance(made, Array):
        return made
    return labels(estimator._label_encoder.classes_, made.astype("int64"))


# -- calibration -------------------------------------------------------------------------------------------


@converts("sklearn.calibration.CalibratedClassifierCV", "predict_proba", columns=True)
def calibrated(estimator: Fitted, x: Given) -> Array:
    """The mean of what all calibrated classifiers say."""
    found = [_calibrated(each, x) for each in estimator.calibrated_classifiers_]
    return sum(found[1:], found[0]) / len(found)


def _calibrated(classifier: Inner, x: Given) -> Array:
    inner: Fitted = classifier.estimator
    if classifier.method not in ("sigmoid", "isotonic"):
        raise NotCovered(f"method={classifier.method!r}")
    if hasattr(inner, "decision_function"):
        made: Array = call(inner, "decision_function", x)
    else:
        made = call(inner, "predict_proba", x)
        made = made[:, 1] if len(inner.classes_) == 2 else made
    columns = [made] if made.ndim == 1 else [made[:, k] for k in range(len(inner.classes_))]
    count = len(classifier.classes)
    if count == 2:
        second = _of_calibrator(classifier.calibrators[0], columns[0]).astype(float64)
        return _at_most_one(concatenate([(1.0 - second)[:, None], second[:, None]], axis=1))
    places: list[int] = [list(classifier.classes).index(each) for each in inner.classes_]
    by_class: dict[int, tuple[Array, Fitted]] = dict(
        zip(places, zip(columns, classifier.calibrators, strict=True), strict=True)
    )
    parts: list[Array] = []
    for k in range(count):
        if k in by_class:
            column, calibrator = by_class[k]
            parts.append(_of_calibrator(calibrator, column).astype(float64)[:, None])
        else:
            parts.append(zeros((columns[0].shape[0], 1)))
    whole = concatenate(parts, axis=1)
    total = whole.sum(axis=1, keepdims=True)
    is_none = total == 0
    return _at_most_one(either(is_none, 1.0 / count, whole / either(is_none, 1.0, total)))


def _of_calibrator(calibrator: Fitted, column: Array) -> Array:
    if type(calibrator).__name__ == "_SigmoidCalibration":
        return special.expit(-(column * float(calibrator.a_) + float(calibrator.b_)))
    return call(calibrator, "predict", column)


def _at_most_one(made: Array) -> Array:
    return either((made > 1.0) & (made <= 1.0 + 1e-5), 1.0, made)
