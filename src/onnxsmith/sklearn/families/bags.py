"""Works on counts of words without a matrix of them: linear models, naive Bayes, selection, scaling.

These are given a `Bag`, or bags and arrays side by side. Any other estimator is given the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, exp, log, stack
from onnxsmith.numpy import max as largest
from onnxsmith.numpy import sum as total
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.bags import Bag, SideBySide
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.text import weighted
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, labels

Sparse = Bag | SideBySide

_LINEAR = "sklearn.linear_model."
_REGRESSORS = (
    *(f"{_LINEAR}{name}" for name in ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet")),
    *(
        f"{_LINEAR}{name}"
        for name in ("SGDRegressor", "LassoCV", "ElasticNetCV", "PassiveAggressiveRegressor")
    ),
    "sklearn.svm.LinearSVR",
)
_CLASSIFIERS = (
    *(f"{_LINEAR}{name}" for name in ("LogisticRegression", "LogisticRegressionCV", "SGDClassifier")),
    *(f"{_LINEAR}{name}" for name in ("RidgeClassifier", "RidgeClassifierCV", "Perceptron")),
    f"{_LINEAR}PassiveAggressiveClassifier",
    "sklearn.svm.LinearSVC",
)
_BAYES = tuple(f"sklearn.naive_bayes.{name}NB" for name in ("Multinomial", "Complement", "Bernoulli"))


def only_bag(x: Sparse) -> Bag:
    """The one bag; refused where arrays stand beside it."""
    if not isinstance(x, Bag):
        raise NotCovered("it is given several matrices side by side")
    return x


def _product(x: Sparse, weights: np.ndarray[Any, Any]) -> Array:
    found = np.asarray(weights)
    kind = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    return x @ asarray(found.astype(np.result_type(found.dtype, kind)))


# -- linear models ---------------------------------------------------------------------------------------


@converts(*_REGRESSORS, "predict", structured=True)
def regression(estimator: Fitted, x: Sparse) -> Array:
    """`x @ coef.T + intercept`"""
    return _product(x, np.asarray(estimator.coef_).T) + asarray(estimator.intercept_)


@converts(*_CLASSIFIERS, "decision_function", structured=True)
def scores(estimator: Fitted, x: Sparse) -> Array:
    """Of two classes one number for each row, of more one for each class."""
    made = _product(x, np.asarray(estimator.coef_).T) + asarray(estimator.intercept_)
    return made[:, 0] if np.asarray(estimator.coef_).shape[0] == 1 else made


@converts(*_CLASSIFIERS, "predict", structured=True)
def chosen(estimator: Fitted, x: Sparse) -> Part:
    """The class of the largest score; of two, the second where the score is above 0."""
    found: Array = call(estimator, "decision_function", x)
    binarizer = getattr(estimator, "_label_binarizer", None)
    if binarizer is not None and binarizer.y_type_.startswith("multilabel"):
        raise NotCovered("it gives several labels for each row")
    index = argmax(found, axis=1) if found.ndim == 2 else (found > 0).astype("int64")
    return labels(estimator.classes_, index)


@converts(
    *(f"{_LINEAR}{name}" for name in ("LogisticRegression", "LogisticRegressionCV")),
    "predict_proba",
    structured=True,
)
def probabilities(estimator: Fitted, x: Sparse) -> Array:
    """Of two classes by the logistic function, of more by softmax."""
    found: Array = call(estimator, "decision_function", x)
    return _logistic(found) if found.ndim == 1 else _softmax(found)


@converts(f"{_LINEAR}SGDClassifier", "predict_proba", structured=True)
def sgd_probabilities(estimator: Fitted, x: Sparse) -> Array:
    """The logistic function of each score; of several classes, divided by their sum."""
    if estimator.loss != "log_loss":
        raise NotCovered(f"loss={estimator.loss!r}")
    found: Array = call(estimator, "decision_function", x)
    if found.ndim == 1:
        return _logistic(found)
    each = _sigmoid(found)
    added = total(each, axis=1, keepdims=True)
    return where(is_equal(added, 0), 1 / int(found.shape[1]), each / where(is_equal(added, 0), 1, added))


def _sigmoid(x: Array) -> Array:
    small = exp(-abs(x))
    return where(x >= 0, 1 / (1 + small), small / (1 + small))


def _logistic(x: Array) -> Array:
    second = _sigmoid(x)
    return stack([1 - second, second], axis=1)


def _softmax(x: Array) -> Array:
    raised = exp(x - largest(x, axis=1, keepdims=True))
    return raised / total(raised, axis=1, keepdims=True)


# -- naive Bayes -----------------------------------------------------------------------------------------


def _joint(estimator: Fitted, x: Sparse) -> Array:
    """The logarithm of what classes and rows have together."""
    known = np.asarray(estimator.feature_log_prob_)
    name = type(estimator).__name__
    if name == "ComplementNB":
        made = _product(x, known.T)
        return made + asarray(estimator.class_log_prior_) if len(estimator.classes_) == 1 else made
    if name == "MultinomialNB":
        return _product(x, known.T) + asarray(estimator.class_log_prior_)
    bag = only_bag(x)
    if estimator.binarize is not None:
        bag = bag.merged()
        bag = bag.with_numbers((bag.numbers > estimator.binarize).astype(bag.dtype))
        if estimator.binarize < 0:
            raise NotCovered("binarize is below 0, so that features which are not there count")
    absent = np.log(1 - np.exp(known))
    return _product(bag, (known - absent).T) + asarray(estimator.class_log_prior_ + absent.sum(axis=1))


@converts(*_BAYES, "predict", structured=True)
def likeliest(estimator: Fitted, x: Sparse) -> Part:
    """The class that is likeliest."""
    return labels(estimator.classes_, argmax(_joint(estimator, x), axis=1))


@converts(*_BAYES, "predict_log_proba", structured=True)
def log_likelihoods(estimator: Fitted, x: Sparse) -> Array:
    """The logarithm of the probability of each class."""
    joint = _joint(estimator, x)
    highest = largest(joint, axis=1, keepdims=True)
    return joint - (log(total(exp(joint - highest), axis=1, keepdims=True)) + highest)


@converts(*_BAYES, "predict_proba", structured=True)
def likelihoods(estimator: Fitted, x: Sparse) -> Array:
    """The probability of each class."""
    return exp(log_likelihoods(estimator, x))


# -- transformers ----------------------------------------------------------------------------------------


@converts("sklearn.feature_extraction.text.TfidfTransformer", "transform", structured=True)
def weighted_counts(estimator: Fitted, x: Sparse) -> Bag:
    """Counts, weighted by how rare features are."""
    return weighted(estimator, only_bag(x))


@converts("sklearn.decomposition.TruncatedSVD", "transform", structured=True)
def components(estimator: Fitted, x: Sparse) -> Array:
    """`x @ components.T`"""
    return _product(x, np.asarray(estimator.components_).T)


@converts("sklearn.preprocessing.Normalizer", "transform", structured=True)
def normalized(estimator: Fitted, x: Sparse) -> Bag:
    """Rows of length one."""
    bag = only_bag(x)
    return (bag if bag.dtype.kind == "f" else bag.astype(np.float64)).normalized(estimator.norm)


@converts(
    *(f"sklearn.preprocessing.{name}" for name in ("MaxAbsScaler", "StandardScaler")),
    "transform",
    structured=True,
)
def scaled(estimator: Fitted, x: Sparse) -> Bag:
    """Each feature divided by a number of its own."""
    bag = only_bag(x)
    if getattr(estimator, "with_mean", False) or getattr(estimator, "clip", False):
        raise NotCovered("what is 0 does not stay 0")
    bag = bag if bag.dtype.kind == "f" else bag.astype(np.float64)
    scale = estimator.scale_
    return bag if scale is None else bag.times((1 / np.asarray(scale)).astype(bag.dtype))


@converts(
    *(
        f"sklearn.feature_selection.{name}"
        for name in (
            *("GenericUnivariateSelect", "SelectFdr", "SelectFpr", "SelectFromModel", "SelectFwe"),
            *("SelectKBest", "SelectPercentile", "VarianceThreshold"),
        )
    ),
    "transform",
    structured=True,
)
def selected(estimator: Fitted, x: Sparse) -> Bag:
    """Some of the features."""
    return only_bag(x).chosen(np.asarray(estimator.get_support(indices=True)))
