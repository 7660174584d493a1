"""CatBoost: its trees as it saves them in JSON. They read X in single precision, and are added in double.

Splits by categories are refused: CatBoost compares hashes of text, which no operator computes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, exp, zeros
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.boosting import softmax, two_columns
from onnxsmith.sklearn.families.tree_tables import (
    Numbers,
    TreeTable,
    leaf_rows,
    sum_in_order,
    sum_of_leaves,
)
from onnxsmith.sklearn.families.trees import as_trees_see
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Columns, Fitted, Given, Part, labels

_CLASSIFIER = "catboost.core.CatBoostClassifier"
_REGRESSORS = ("catboost.core.CatBoost", "catboost.core.CatBoostRanker", "catboost.core.CatBoostRegressor")

#: A part of what is saved, which is JSON.
Saved = Mapping[str, Any]


def _saved(estimator: Fitted) -> Saved:
    """The model as JSON, which CatBoost writes into files only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        found = cast(Saved, json.loads(path.read_text(encoding="utf-8")))
    others = [
        name
        for name in ("categorical_features", "text_features", "embedding_features")
        if found["features_info"].get(name)
    ]
    if others:
        raise NotCovered(
            f"it has {others[0].replace('_', ' ')}, which it compares by hashes that no operator computes"
        )
    return found


# -- trees -------------------------------------------------------------------------------------------


class _Features:
    """The columns of X that splits ask for, and where NaN goes."""

    def __init__(self, saved: Saved) -> None:
        every = saved["features_info"]["float_features"]
        self._columns = {each["feature_index"]: each["flat_feature_index"] for each in every}
        self._missing_right = {
            each["feature_index"] for each in every if each["nan_value_treatment"] == "AsTrue"
        }

    def split(self, saved: Saved) -> tuple[int, float, bool]:
        """The column and the border of a split, and whether NaN goes left."""
        if saved["split_type"] != "FloatFeature":
            raise NotCovered(f"it splits by {saved['split_type']}")
        feature = saved["float_feature_index"]
        return self._columns[feature], float(np.float32(saved["border"])), feature not in self._missing_right


def _table(splits: list[tuple[int, float, bool]], children: Numbers) -> TreeTable:
    feature, border, missing = (np.array(each) for each in zip(*splits, strict=True))
    return TreeTable(children[:, 0], children[:, 1], feature, border, missing.astype(np.int64))


def _symmetric(tree: Saved, features: _Features) -> tuple[TreeTable, Numbers]:
    """A tree of which all nodes of a level ask the same; the first question is the lowest bit of a leaf's number."""
    questions: list[Saved] = tree["splits"] or []
    asked = [features.split(each) for each in questions]
    inner, leaves = 2 ** len(asked) - 1, 2 ** len(asked)
    splits = [each for level, each in enumerate(reversed(asked)) for _ in range(2**level)]
    splits += [(0, 0.0, False)] * leaves
    places = np.arange(inner, dtype=np.int64)
    children = np.full((inner + leaves, 2), -1)
    children[:inner] = np.stack([2 * places + 1, 2 * places + 2], axis=1)
    values = np.array(tree["leaf_values"], np.float64).reshape(leaves, -1)
    return _table(splits, children), np.concatenate([np.zeros((inner, values.shape[1])), values])


def _nested(tree: Saved, features: _Features) -> tuple[TreeTable, Numbers]:
    """A tree of any form; parents come before their children."""
    nodes, links = [tree], list[tuple[int, int]]()
    for node in nodes:  # which grows
        if "split" in node:
            links.append((len(nodes), len(nodes) + 1))
            nodes.extend((node["left"], node["right"]))
        else:
            links.append((-1, -1))
    splits = [features.split(each["split"]) if "split" in each else (0, 0.0, False) for each in nodes]
    found = [
        np.atleast_1d(np.array(each["value"], np.float64)) if "split" not in each else None for each in nodes
    ]
    width = next(len(each) for each in found if each is not None)
    values = np.stack([np.zeros(width) if each is None else each for each in found])
    return _table(splits, np.array(links)), values


def _raw(saved: Saved, x: Given) -> Array:
    """The sum of all trees, of shape (rows, dimensions)."""
    if isinstance(x, Columns):
        x = x.matrix()
    assert isinstance(x, Array)  # text is a column of a frame, and refused by now
    features = _Features(saved)
    symmetric: list[Saved] = saved.get("oblivious_trees") or []
    others: list[Saved] = saved.get("trees") or []
    trees = [_symmetric(each, features) for each in symmetric] + [_nested(each, features) for each in others]
    scale, bias = saved["scale_and_bias"]
    start = np.atleast_1d(np.array(bias, np.float64))
    if not trees:
        return zeros((x.shape[0], 1)) + asarray(start)
    tables, values = [table for table, _ in trees], [each for _, each in trees]
    seen = as_trees_see(x)
    if values[0].shape[1] == 1:
        found = sum_of_leaves(tables, [each[:, 0] for each in values], seen)[:, None]
    else:
        found = sum_in_order(leaf_rows(tables, values, seen))
    return found * float(scale) + asarray(start)


# -- what becomes of sums ----------------------------------------------------------------------------


def _sigmoid(raw: Array) -> Array:
    return 1.0 / (1.0 + exp(-raw))


#: By loss, the probabilities of classes.
_PROBABILITIES: dict[str, Callable[[Array], Array]] = {
    "CrossEntropy": lambda raw: two_columns(_sigmoid(raw[:, 0])),
    "Logloss": lambda raw: two_columns(_sigmoid(raw[:, 0])),
    "MultiClass": softmax,
    "MultiClassOneVsAll": _sigmoid,
}


def _loss(estimator: Fitted) -> str:
    name = str(estimator.get_all_params().get("loss_function")).partition(":")[0]
    if name not in _PROBABILITIES:
        raise NotCovered(f"what the loss {name} makes of sums is not known")
    return name


@converts(*_REGRESSORS, "predict", columns=True)
def regression(estimator: Fitted, x: Given) -> Array:
    """The sum of all trees, or its exponential where the loss is of logarithms."""
    asked = getattr(estimator, "_get_default_prediction_type", lambda: "RawFormulaVal")()
    if asked not in ("RawFormulaVal", "Exponent"):
        raise NotCovered(f"it predicts {asked}")
    raw = _raw(_saved(estimator), x)
    found = raw[:, 0] if raw.shape[1] == 1 else raw
    return exp(found) if asked == "Exponent" else found


@converts(_CLASSIFIER, "decision_function", columns=True)
def decision(estimator: Fitted, x: Given) -> Array:
    """The sums of all trees, which probabilities and classes are made of. CatBoost has no method of this name."""
    return _raw(_saved(estimator), x)


@converts(_CLASSIFIER, "predict_proba", inline=True)
def probabilities(estimator: Fitted, x: Given) -> Array:
    """The probabilities that the loss gives for sums."""
    loss = _loss(estimator)
    return _PROBABILITIES[loss](call(estimator, "decision_function", x))


@converts(_CLASSIFIER, "predict", inline=True)
def classes(estimator: Fitted, x: Given) -> Part:
    """The class of the largest sum; of two, the second above the threshold."""
    _loss(estimator)
    raw = call(estimator, "decision_function", x)
    names = np.asarray(estimator.classes_)
    if raw.shape[1] > 1:
        return labels(names, argmax(raw, axis=1)[:, None])
    share = estimator.get_probability_threshold()
    border = 0.0 if share is None else float(np.log(share / (1 - share)))
    return labels(names, (raw[:, 0] > border).astype(np.int64))
