"""Bagging: members that were fitted on parts of the data, each called by the one road."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, concatenate, log, logaddexp, stack, take, zeros
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.tree_tables import sum_in_order
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, labels

_CLASSIFIER = "sklearn.ensemble.BaggingClassifier"


def _members(estimator: Fitted, x: Array) -> Iterator[tuple[Fitted, Array]]:
    """Each member, and the columns of X that it was fitted on."""
    for member, columns in zip(estimator.estimators_, estimator.estimators_features_, strict=True):
        yield (
            member,
            _columns(x, np.asarray(columns), int(estimator.n_features_in_)),
        )


def _columns(x: Array, places: np.ndarray[Any, np.dtype[Any]], width: int) -> Array:
    return x if np.array_equal(places, np.arange(width)) else take(x, asarray(places), axis=1)


def _in_all_classes(estimator: Fitted, member: Fitted, found: Array, missing: float) -> Array:
    """The columns of a member in the places of its classes, which may be some only."""
    count = int(estimator.n_classes_)
    own = np.asarray(member.classes_)
    if len(own) == count:
        return found
    places = np.full(count, len(own))
    places[own] = np.arange(len(own))
    return take(concatenate([found, zeros((found.shape[0], 1)) + missing], axis=1), asarray(places), axis=1)


@converts(_CLASSIFIER, "predict_proba")
def probabilities(estimator: Fitted, x: Array) -> Array:
    """The mean of the members' probabilities, or of their votes where they have none."""
    found: list[Array] = []
    for member, given in _members(estimator, x):
        if hasattr(member, "predict_proba"):
            made = call(member, "predict_proba", given)
            found.append(_in_all_classes(estimator, member, made.astype(np.float64), 0.0))
        else:
            votes = call(member, "predict", given)
            found.append((votes[:, None] == asarray(np.arange(int(estimator.n_classes_)))).astype(np.float64))
    return sum_in_order(stack(found, axis=0)) / float(estimator.n_estimators)


@converts(_CLASSIFIER, "predict", inline=True)
def classes(estimator: Fitted, x: Array) -> Part:
    """The class of the largest mean."""
    return labels(estimator.classes_, argmax(call(estimator, "predict_proba", x), axis=1))


@converts(_CLASSIFIER, "predict_log_proba")
def log_probabilities(estimator: Fitted, x: Array) -> Array:
    """The logarithm of the mean, from the members' logarithms where they have probabilities."""
    if not all(hasattr(each, "predict_log_proba") for each in estimator.estimators_):
        return log(call(estimator, "predict_proba", x))
    found: Array | None = None
    for member, given in _members(estimator, x):
        made = _in_all_classes(estimator, member, call(member, "predict_log_proba", given), -np.inf)
        found = made if found is None else logaddexp(found, made)
    if found is None:
        raise NotCovered("it has no members")
    return found - np.log(estimator.n_estimators)


@converts(_CLASSIFIER, "decision_function")
def decision(estimator: Fitted, x: Array) -> Array:
    """The mean of the members' decision functions."""
    found = [call(member, "decision_function", given) for member, given in _members(estimator, x)]
    return sum_in_order(stack(found, axis=0)) / float(estimator.n_estimators)


@converts("sklearn.ensemble.BaggingRegressor", "predict")
def regression(estimator: Fitted, x: Array) -> Array:
    """The mean of what the members give."""
    found = [call(member, "predict", given) for member, given in _members(estimator, x)]
    return sum_in_order(stack(found, axis=0)) / float(estimator.n_estimators)
