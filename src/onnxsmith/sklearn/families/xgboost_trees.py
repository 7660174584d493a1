"""XGBoost: its boosters as they are saved in JSON. Everything is single precision: X, thresholds, leaves and sums."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.numpy import Array, argmax, asarray, exp, isnan, maximum, stack, zeros
from onnxsmith.sklearn.arrays import is_equal
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.categories import places
from onnxsmith.sklearn.failing import raise_unless
from onnxsmith.sklearn.families.boosting import softmax, two_columns
from onnxsmith.sklearn.families.category_sides import BETWEEN, CategorySides
from onnxsmith.sklearn.families.tree_tables import (
    Numbers,
    TreeTable,
    ensemble_attributes,
    find_leaves,
)
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Columns, Fitted, Given, Part, array_of, either

_CLASSIFIERS = ("xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRFClassifier")
_REGRESSORS = (
    "xgboost.sklearn.XGBModel",
    "xgboost.sklearn.XGBRanker",
    "xgboost.sklearn.XGBRegressor",
    "xgboost.sklearn.XGBRFRegressor",
)

#: A part of what is saved, which is JSON.
Saved = Mapping[str, Any]
_SPLIT_BY_CATEGORIES = 1
#: The sigmoid is that of no number below this, and its denominator has a little more than 1.
_LOWEST_EXPONENT, _A_LITTLE = np.float32(-88.7), np.float32(1e-16)


# -- what trees see ----------------------------------------------------------------------------------


def _seen(estimator: Fitted, learner: Saved, x: Given) -> Array:
    """X in float32, with NaN for what the estimator calls missing, and codes for the categories of a frame."""
    if isinstance(x, Columns):
        found = _of_frame(learner, x)
    else:
        assert isinstance(x, Array)  # text is a column of a frame
        found = x.astype(np.float32)
    missing = estimator.missing
    if missing is None or np.isnan(missing):
        return found
    return either(is_equal(found, float(np.float32(missing))), np.nan, found)


def _of_frame(learner: Saved, x: Columns) -> Array:
    model: Saved = learner["gradient_booster"].get("model") or {}
    kept: Saved = model.get("cats") or {}
    saved: Sequence[Saved] = kept.get("enc") or []
    known = [_categories(each) for each in saved] or [()] * len(x)
    made: list[Array] = []
    for (name, each), categories in zip(x.items(), known, strict=True):
        if len(categories):
            made.append(_known_code(each, places(each, list(categories), name), name))
        elif isinstance(each, Array):
            made.append(each.astype(np.float32))
        else:
            raise NotCovered(f"it has not kept the categories of column {name!r}, as XGBoost does since 3.1")
    return stack(made, axis=1)


def _known_code(column: Part, code: Array, name: str) -> Array:
    """Codes as numbers, NaN for what is missing; the model fails for another category, as XGBoost does."""
    if isinstance(column, Array):
        is_missing = isnan(column) if column.dtype.kind == "f" else code < -1
    else:
        is_missing = is_equal(places(column, [None], name), 0)
    text = f"Found a category not in the training set for the column {name}"
    code = raise_unless(((code >= 0) | is_missing).all(), code, text)
    return either(code < 0, np.nan, code.astype(np.float32))


def _categories(saved: Saved) -> Sequence[Any]:
    """The categories of a column: text by its bytes and where each begins, or numbers."""
    values: Sequence[Any] = saved.get("values") or []
    if "offsets" not in saved:
        return values
    codes, ends = np.array(values, np.int64), saved["offsets"]
    if np.any(codes < 0) or np.any(codes > 127):
        # XGBoost 3.2 counts characters where bytes are meant, and saves a part of the names.
        raise NotCovered("its categories have names beyond ASCII, which XGBoost does not save as they are")
    return [bytes(codes[begin:end].tolist()).decode("ascii") for begin, end in itertools.pairwise(ends)]


# -- trees -------------------------------------------------------------------------------------------


def _table(tree: Saved, sides: CategorySides) -> tuple[TreeTable, Numbers]:
    """The table of a tree, and the values of its nodes."""
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise NotCovered('its leaves hold several numbers (multi_strategy="multi_output_tree")')
    left = np.array(tree["left_children"], np.int64)
    right = np.array(tree["right_children"], np.int64)
    feature = np.array(tree["split_indices"], np.int64)
    condition = np.array(tree["split_conditions"], np.float32)
    missing = np.array(tree["default_left"], np.int64)
    # A row goes left where it is below the threshold: not above the number before it.
    threshold = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    is_by_category = (np.array(tree["split_type"]) == _SPLIT_BY_CATEGORIES) & (left >= 0)
    chosen = _category_sets(tree)
    for node in np.flatnonzero(is_by_category):
        # The set of a node goes right.
        codes = chosen.get(int(node), [])
        feature[node] = sides.column(
            int(feature[node]), codes, others_left=True, missing_left=bool(missing[node])
        )
        threshold[node] = BETWEEN
    return TreeTable(left, right, feature, threshold, missing), condition


def _category_sets(tree: Saved) -> dict[int, list[int]]:
    entries = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    return {node: tree["categories"][begin : begin + size] for node, begin, size in entries}


def _sum_in_single(trees: Sequence[tuple[TreeTable, Numbers]], start: np.float32, x: Array) -> Array:
    """The start and what the trees give, added one after the other in single precision."""
    terms = [asarray(np.full((1, 1), start, np.float32)).tensor]
    for table, values in trees:
        attributes = ensemble_attributes([table], [values])
        for name in ("nodes_splits", "leaf_weights"):
            attributes[name] = attributes[name].astype(np.float32)
        terms.append(find_leaves(x, attributes).tensor)
    if len(terms) == 1:
        return zeros(x.shape[0], dtype=np.float32) + asarray(np.float32(start))
    return array_of(op.Sum(*terms))[:, 0]


def _margins(estimator: Fitted, learner: Saved, x: Given) -> Array:
    """The sums of all trees, of shape (rows, groups)."""
    booster = learner["gradient_booster"]
    seen = _seen(estimator, learner, x)
    start = _start(learner)
    if booster["name"] == "gblinear":
        return _linear(booster["model"]["weights"], start, seen)
    weights = None
    if booster["name"] == "dart":
        weights, booster = booster["weight_drop"], booster["gbtree"]
    model = booster["model"]
    last = _trees_taken(estimator, model)
    sides = CategorySides(int(seen.shape[1]), lowest=0)
    groups: list[list[tuple[TreeTable, Numbers]]] = [[] for _ in range(len(start))]
    for place, (tree, group) in enumerate(zip(model["trees"], model["tree_info"], strict=True)):
        table, values = _table(tree, sides)
        if place < last:
            factor = np.float32(1 if weights is None else weights[place])
            groups[int(group)].append((table, values * factor))
    wide = sides.beside(seen)
    return stack(
        [_sum_in_single(each, first, wide) for each, first in zip(groups, start, strict=True)], axis=1
    )


def _trees_taken(estimator: Fitted, model: Saved) -> int:
    """How many trees count: those up to the best iteration, where fitting stopped early."""
    best = getattr(estimator, "best_iteration", None) if estimator.early_stopping_rounds else None
    ends = model["iteration_indptr"]
    return ends[-1] if best is None else ends[min(int(best) + 1, len(ends) - 1)]


def _linear(weights: Sequence[float], start: Numbers, x: Array) -> Array:
    """A linear model: what is missing counts nothing."""
    table = np.array(weights, np.float32).reshape(-1, len(start))
    present = either(isnan(x), 0.0, x)
    return present @ asarray(table[:-1]) + asarray(table[-1] + start)


# -- objectives --------------------------------------------------------------------------------------


def _sigmoid(margin: Array) -> Array:
    return 1 / (exp(-maximum(margin, _LOWEST_EXPONENT)) + np.float32(1) + _A_LITTLE)


def _logit(base: Numbers) -> Numbers:
    return -np.log(np.float32(1) / base - np.float32(1))


def _same(value: Any) -> Any:
    return value


def _above_zero(margin: Array) -> Array:
    return (margin > 0).astype(np.float32)


#: What an objective makes of sums, and of its base score, which is where sums begin.
_LOGISTIC: tuple[Callable[[Array], Array], Callable[[Numbers], Numbers]] = (_sigmoid, _logit)
_EXPONENTIAL: tuple[Callable[[Array], Array], Callable[[Numbers], Numbers]] = (exp, np.log)
_PLAIN: tuple[Callable[[Array], Array], Callable[[Numbers], Numbers]] = (_same, _same)
_OBJECTIVES: dict[str, tuple[Callable[[Array], Array], Callable[[Numbers], Numbers]]] = {
    "binary:hinge": (_above_zero, _same),
    "binary:logistic": _LOGISTIC,
    "binary:logitraw": _PLAIN,
    "count:poisson": _EXPONENTIAL,
    "multi:softmax": (softmax, _same),
    "multi:softprob": (softmax, _same),
    "rank:map": _PLAIN,
    "rank:ndcg": _PLAIN,
    "rank:pairwise": _PLAIN,
    "reg:absoluteerror": _PLAIN,
    "reg:expectileerror": _PLAIN,
    "reg:gamma": _EXPONENTIAL,
    "reg:logistic": _LOGISTIC,
    "reg:pseudohubererror": _PLAIN,
    "reg:quantileerror": _PLAIN,
    "reg:squarederror": _PLAIN,
    "reg:squaredlogerror": _PLAIN,
    "reg:tweedie": _EXPONENTIAL,
    "survival:aft": _EXPONENTIAL,
    "survival:cox": _EXPONENTIAL,
}


def _learner(estimator: Fitted) -> Saved:
    learner = json.loads(bytes(estimator.get_booster().save_raw("json")))["learner"]
    name = learner["objective"]["name"]
    if callable(estimator.objective):
        raise NotCovered("its objective is a function, of which nothing says what becomes of the sums")
    if name not in _OBJECTIVES:
        raise NotCovered(f"the objective {name} is not known")
    return learner


def _start(learner: Saved) -> Numbers:
    """Where the sum of each group begins."""
    sizes = learner["learner_model_param"]
    groups = max(int(sizes["num_class"]), int(sizes.get("num_target", "1")), 1)
    base = np.atleast_1d(np.array(json.loads(sizes["base_score"]), np.float32))
    with np.errstate(divide="ignore"):
        start = _OBJECTIVES[learner["objective"]["name"]][1](base)
    return np.broadcast_to(start, groups) if len(start) == 1 else start


def _predicted(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster: sums, as its objective has them."""
    learner = _learner(estimator)
    made = _OBJECTIVES[learner["objective"]["name"]][0](_margins(estimator, learner, x))
    return made[:, 0] if made.shape[1] == 1 else made


@converts(*_REGRESSORS, "predict", columns=True)
def regression(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster."""
    found = _predicted(estimator, x)
    if found.ndim == 2 and estimator.objective in ("multi:softmax",):
        return argmax(found, axis=1).astype(np.float32)
    return found


@converts(*_CLASSIFIERS, "predict_proba", columns=True)
def probabilities(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster; of two classes, a column for each."""
    found = _predicted(estimator, x)
    return two_columns(found) if found.ndim == 1 else found


@converts(*_CLASSIFIERS, "predict", inline=True)
def classes(estimator: Fitted, x: Given) -> Part:
    """The class of the largest probability, the second of two above a half; of several labels each above a half."""
    found = call(estimator, "predict_proba", x)
    if int(estimator.n_classes_) == 2 and int(found.shape[1]) == 2 and not _has_labels(estimator):
        return (found[:, 1] > 0.5).astype(np.int64)
    if int(estimator.n_classes_) == 2:
        return (found > 0.5).astype(np.float64)
    chosen = argmax(found, axis=1)
    return chosen.astype(np.int32) if estimator.objective == "multi:softmax" else chosen


def _has_labels(estimator: Fitted) -> bool:
    """True if it predicts several labels for a row."""
    config = json.loads(estimator.get_booster().save_config())["learner"]["learner_model_param"]
    return int(config.get("num_target", "1")) > 1
