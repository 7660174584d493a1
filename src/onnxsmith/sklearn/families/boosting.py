"""Boosting: gradient boosting and AdaBoost. Sums go from the first tree to the last, as scikit-learn's do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.numpy import (
    Array,
    argmax,
    argsort,
    asarray,
    clip,
    concatenate,
    cumsum,
    exp,
    log,
    mean,
    special,
    stack,
    take_along_axis,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.tree_tables import (
    Numbers,
    TreeTable,
    by_row_count,
    leaf_rows,
    leaf_values,
    leaves_of_trees,
    sum_in_order,
    sum_of_leaves,
    table_of,
)
from onnxsmith.sklearn.families.trees import as_trees_see, predicted_places
from onnxsmith.sklearn.table import NotCovered, converts, public_name
from onnxsmith.sklearn.values import Fitted, Given, Inner, Part, either, labels

# -- what gradient boosting has in common ------------------------------------------------------------


def boosted(stages: list[list[tuple[TreeTable, Numbers]]], start: Numbers | Array, x: Array) -> Array:
    """The start and what the trees of all stages add, of shape (rows, trees of a stage).

    `start` has a number for each tree of a stage; or, as an array of the model, a row of them for each row.
    """
    width = len(stages[0])
    tables = [table for stage in stages for table, _ in stage]
    values = [value for stage in stages for _, value in stage]
    if not isinstance(start, Array):
        # The first sum is rounded once, whoever adds it.
        values = [start[k] + value if k < width else value for k, value in enumerate(values)]
    stages_start = start[:, None, :] if isinstance(start, Array) else None

    def few() -> Array:
        found = leaves_of_trees(tables, values, x).reshape(-1, len(stages), width)
        terms = found if stages_start is None else concatenate([stages_start, found], axis=1)
        return sum_in_order(terms, axis=1)

    def many() -> Array:
        columns = [
            sum_of_leaves(
                tables[k::width], values[k::width], x, start[:, k] if isinstance(start, Array) else None
            )
            for k in range(width)
        ]
        return stack(columns, axis=1)

    return by_row_count(tables, x, few, many)


def two_columns(positive: Array) -> Array:
    """The probabilities of two classes, of that of the second."""
    return stack([1 - positive, positive], axis=1)


def softmax(raw: Array) -> Array:
    """Row by row, as scikit-learn's."""
    made = exp(raw - raw.max(axis=1, keepdims=True))
    return made / made.sum(axis=1, keepdims=True)


def inverse_link(loss: Inner, raw: Array) -> Array:
    """The inverse link of a loss, on raw predictions; raises where the link is none of scikit-learn's."""
    name = type(loss.link).__name__
    if name == "IdentityLink":
        return raw
    if name == "LogLink":
        return exp(raw)
    if name == "LogitLink":
        return special.expit(raw)
    if name == "HalfLogitLink":
        return special.expit(2 * raw)
    if name == "MultinomialLogit":
        return softmax(raw)
    raise NotCovered(f"the link {name} is not known")


def _link(loss: Inner, given: Array) -> Array:
    name = type(loss.link).__name__
    if name == "IdentityLink":
        return given
    if name == "LogitLink":
        return log(given / (1 - given))
    if name == "HalfLogitLink":
        return 0.5 * log(given / (1 - given))
    if name == "MultinomialLogit":
        return log(given / exp(mean(log(given), axis=1, keepdims=True)))
    raise NotCovered(f"the link {name} is not known")


def boosted_probabilities(loss: Inner, raw: Array) -> Array:
    """The probabilities of all classes, of the decision function."""
    return two_columns(inverse_link(loss, raw)) if raw.ndim == 1 else inverse_link(loss, raw)


# -- gradient boosting -------------------------------------------------------------------------------

_CLASSIFIER = "sklearn.ensemble.GradientBoostingClassifier"
_REGRESSOR = "sklearn.ensemble.GradientBoostingRegressor"
_HISTOGRAM_CLASSIFIER = "sklearn.ensemble.HistGradientBoostingClassifier"
_ADA_CLASSIFIER = "sklearn.ensemble.AdaBoostClassifier"


def _raw(estimator: Fitted, x: Array) -> Array:
    stages = [
        [(table_of(tree.tree_), estimator.learning_rate * tree.tree_.value[:, 0, 0]) for tree in stage]
        for stage in estimator.estimators_
    ]
    return boosted(stages, _start(estimator, x), as_trees_see(x))


def _start(estimator: Fitted, x: Array) -> Numbers | Array:
    """The result of the first estimator: numbers where it does not look at X."""
    first = estimator.init_
    if isinstance(first, str) or public_name(type(cast(object, first))).startswith("sklearn.dummy."):
        return estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), np.float32))[0]
    given = x.astype(np.float32)
    if not hasattr(estimator, "classes_"):
        made = call(first, "predict", given).astype(np.float64)
        return _link(estimator._loss, made if made.ndim == 2 else made.reshape(-1, 1))
    made = call(first, "predict_proba", given)
    if not estimator._loss.is_multiclass:
        made = made[:, 1:2]
    least = np.finfo(np.float64).eps
    return _link(estimator._loss, clip(made.astype(np.float64), least, 1 - least))


@converts(_REGRESSOR, "predict")
def gradient_regression(estimator: Fitted, x: Array) -> Array:
    """The start and what all trees add."""
    return _raw(estimator, x)[:, 0]


@converts(_CLASSIFIER, "decision_function")
def gradient_decision(estimator: Fitted, x: Array) -> Array:
    """The start and what all trees add; of two classes one number for each row."""
    raw = _raw(estimator, x)
    return raw[:, 0] if raw.shape[1] == 1 else raw


@converts(_CLASSIFIER, "predict", inline=True)
def gradient_classes(estimator: Fitted, x: Array) -> Part:
    """The class of the largest number; of two, the second from 0 on."""
    raw = call(estimator, "decision_function", x)
    chosen = (raw >= 0).astype(np.int64) if raw.ndim == 1 else argmax(raw, axis=1)
    return labels(estimator.classes_, chosen)


@converts(_CLASSIFIER, _HISTOGRAM_CLASSIFIER, "predict_proba", inline=True)
def gradient_probabilities(estimator: Fitted, x: Given) -> Array:
    """The loss's probabilities."""
    return boosted_probabilities(estimator._loss, call(estimator, "decision_function", x))


@converts(_CLASSIFIER, _ADA_CLASSIFIER, "predict_log_proba", inline=True)
def log_probabilities(estimator: Fitted, x: Array) -> Array:
    """The logarithm of the probabilities."""
    return log(call(estimator, "predict_proba", x))


# -- AdaBoost ----------------------------------------------------------------------------------------

_PLAIN_TREES = frozenset(
    f"sklearn.tree.{name}{kind}"
    for name in ("DecisionTree", "ExtraTree")
    for kind in ("Classifier", "Regressor")
)


def _are_trees(estimators: Sequence[object]) -> bool:
    return all(public_name(type(each)) in _PLAIN_TREES for each in estimators)


def _votes(estimator: Fitted, x: Array) -> Array:
    """The votes of each member for the classes, of shape (members, rows, classes)."""
    trees: list[Any] = list(estimator.estimators_)
    names = np.asarray(estimator.classes_)
    weights = np.asarray(estimator.estimator_weights_, np.float64)[: len(trees)]
    against = -1 / (len(names) - 1)
    if _are_trees(trees):
        places = [predicted_places(each, names) for each in trees]
        votes: list[Numbers] = [
            np.where(place[:, None] == np.arange(len(names)), weight, against * weight)
            for place, weight in zip(places, weights, strict=True)
        ]
        return leaf_rows([table_of(each.tree_) for each in trees], votes, as_trees_see(x))
    if names.dtype.kind in "OUST":
        raise NotCovered("its classes are text, and its members are no trees")
    given = stack([call(each, "predict", x) for each in trees], axis=0)
    shares = asarray(weights.reshape(-1, 1, 1))
    return either(given[:, :, None] == asarray(names), shares, against * shares)


@converts(_ADA_CLASSIFIER, "decision_function")
def ada_decision(estimator: Fitted, x: Array) -> Array:
    """The members' weighted votes; of two classes one number for each row."""
    if len(estimator.classes_) == 1:
        raise NotCovered("it was fitted with one class")
    found = sum_in_order(_votes(estimator, x)) / float(estimator.estimator_weights_.sum())
    return -found[:, 0] + found[:, 1] if len(estimator.classes_) == 2 else found


@converts(_ADA_CLASSIFIER, _HISTOGRAM_CLASSIFIER, "predict", inline=True)
def ada_classes(estimator: Fitted, x: Given) -> Part:
    """The class with the most; of two, the second above 0."""
    found = call(estimator, "decision_function", x)
    chosen = (found > 0).astype(np.int64) if found.ndim == 1 else argmax(found, axis=1)
    return labels(estimator.classes_, chosen)


@converts(_ADA_CLASSIFIER, "predict_proba", inline=True)
def ada_probabilities(estimator: Fitted, x: Array) -> Array:
    """`softmax(votes / (classes - 1))`"""
    found = call(estimator, "decision_function", x)
    if found.ndim == 1:
        return softmax(stack([-found, found], axis=1) / 2.0)
    return softmax(found / float(len(estimator.classes_) - 1))


@converts("sklearn.ensemble.AdaBoostRegressor", "predict")
def ada_regression(estimator: Fitted, x: Array) -> Array:
    """The weighted median of what the members give."""
    trees: list[Any] = list(estimator.estimators_)
    if _are_trees(trees):
        values = [each.tree_.value[:, 0, 0] for each in trees]
        given = leaf_values([table_of(each.tree_) for each in trees], values, as_trees_see(x)).T
    else:
        given = stack([call(each, "predict", x) for each in trees], axis=1)
    order = argsort(given, axis=1, kind="stable")
    shares = cumsum(
        asarray(np.asarray(estimator.estimator_weights_[: len(trees)], np.float64))[order], axis=1
    )
    is_enough = shares >= 0.5 * shares[:, -1:]
    place = argmax(is_enough, axis=1)[:, None]
    return take_along_axis(given, take_along_axis(order, place, axis=1), axis=1)[:, 0]
