"""LightGBM: its trees as it dumps them. They compare in double precision, and are added in double, one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, exp, log1p, stack, zeros
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.categories import places
from onnxsmith.sklearn.families.boosting import boosted, softmax, two_columns
from onnxsmith.sklearn.families.category_sides import BETWEEN, CategorySides
from onnxsmith.sklearn.families.tree_tables import Numbers, TreeTable
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Columns, Fitted, Given, Part, either, labels

_CLASSIFIER = "lightgbm.sklearn.LGBMClassifier"
_REGRESSORS = (
    "lightgbm.sklearn.LGBMModel",
    "lightgbm.sklearn.LGBMRanker",
    "lightgbm.sklearn.LGBMRegressor",
)

#: What is no further from 0 is 0 to LightGBM, which leaves it out of rows as a sparse matrix would.
_NEARLY_ZERO = float(np.float32(1e-35))

#: A node or a tree of the dump, which is JSON.
Dumped = Mapping[str, Any]


# -- what trees see ----------------------------------------------------------------------------------


def _seen(estimator: Fitted, x: Given) -> Array:
    """X in double. Categories of frames are codes; whole numbers of an array go by way of float32, as there."""
    if isinstance(x, Columns):
        return _of_frame(estimator, x)
    assert isinstance(x, Array)  # text is a column of a frame
    return (x if x.dtype.kind == "f" else x.astype(np.float32)).astype(np.float64)


def _of_frame(estimator: Fitted, x: Columns) -> Array:
    known: Sequence[Sequence[Any]] = estimator.booster_.pandas_categorical or []
    numbered = set(estimator.booster_.params.get("categorical_column") or [])
    found = [k for k, each in enumerate(x.values()) if not isinstance(each, Array) or k in numbered]
    if known and len(found) != len(known):
        raise NotCovered(f"it was fitted on {len(known)} columns of categories, and {len(found)} are known")
    of_column = dict(zip(found, known, strict=False))
    made: list[Array] = []
    for k, (name, each) in enumerate(x.items()):
        if k in of_column:
            code = places(each, of_column[k], name)
            made.append(either(code < 0, np.nan, code.astype(np.float64)))
        elif isinstance(each, Array):
            made.append(each.astype(np.float64))
        else:
            raise NotCovered(f"it takes numbers and categories, and column {name!r} is text")
    return stack(made, axis=1)


# -- trees -------------------------------------------------------------------------------------------


class _Trees:
    """Tables of trees, and what X becomes for them."""

    def __init__(self, width: int) -> None:
        # A number between -1 and 0 is cut to 0.
        self._sides = CategorySides(width, lowest=float(np.nextafter(-1.0, 0.0)))
        #: The features of which zeros are missing values.
        self._zeros: set[int] = set()
        #: Whether a threshold tells 0 from what is nearly 0.
        self._is_fine = False
        self._width = width

    def table(self, tree: Dumped) -> tuple[TreeTable, Numbers]:
        """The table of a tree, and the values of its nodes; parents come before their children."""
        nodes: list[Dumped] = [tree["tree_structure"]]
        links: list[tuple[int, int]] = []
        for node in nodes:  # which grows
            if "leaf_coeff" in node:
                raise NotCovered("its leaves are linear models (linear_tree=True)")
            if "split_feature" in node:
                links.append((len(nodes), len(nodes) + 1))
                nodes.extend((node["left_child"], node["right_child"]))
            else:
                links.append((-1, -1))
        splits = [self._split(each) if "split_feature" in each else (0, 0.0, False) for each in nodes]
        feature, threshold, missing = (np.array(each) for each in zip(*splits, strict=True))
        children = np.array(links, np.int64)
        values = np.array([float(each.get("leaf_value", 0.0)) for each in nodes])
        return TreeTable(children[:, 0], children[:, 1], feature, threshold, missing.astype(np.int64)), values

    def _split(self, node: Dumped) -> tuple[int, float, bool]:
        """The feature and the threshold of a node, and whether NaN goes left."""
        feature = int(node["split_feature"])
        if node["decision_type"] == "==":
            codes = [int(each) for each in str(node["threshold"]).split("||")]
            column = self._sides.column(feature, codes, others_left=False, missing_left=False)
            return column, BETWEEN, False
        threshold = float(node["threshold"])
        self._is_fine |= -_NEARLY_ZERO <= threshold < _NEARLY_ZERO
        if node["missing_type"] == "None":  # NaN is 0 then
            return feature, threshold, threshold >= 0
        if node["missing_type"] == "Zero":
            self._zeros.add(feature)
        return feature, threshold, bool(node["default_left"])

    def prepared(self, x: Array) -> Array:
        """X as the tables ask for it."""
        if self._zeros or self._is_fine:
            instead = np.where(np.isin(np.arange(self._width), list(self._zeros)), np.nan, 0.0)
            x = either(abs(x) <= _NEARLY_ZERO, asarray(instead), x)
        return self._sides.beside(x)


def _raw(estimator: Fitted, dumped: Dumped, x: Given) -> Array:
    """The sum of all trees, of shape (rows, trees of an iteration)."""
    seen = _seen(estimator, x)
    trees = _Trees(int(seen.shape[1]))
    width = int(dumped["num_tree_per_iteration"])
    tables = [trees.table(each) for each in dumped["tree_info"]]
    if not tables:
        return zeros((seen.shape[0], width))
    stages = [tables[k : k + width] for k in range(0, len(tables), width)]
    found = boosted(stages, np.zeros(width), trees.prepared(seen))
    return found / float(len(stages)) if dumped.get("average_output") else found


# -- what objectives make of sums ----------------------------------------------------------------------


def _same(raw: Array, options: Mapping[str, str]) -> Array:
    return raw


def _sigmoid(raw: Array, options: Mapping[str, str]) -> Array:
    return 1.0 / (1.0 + exp(-float(options.get("sigmoid", "1")) * raw))


def _exponential(raw: Array, options: Mapping[str, str]) -> Array:
    return exp(raw)


def _squares(raw: Array, options: Mapping[str, str]) -> Array:
    return raw * abs(raw) if "sqrt" in options else raw


_LINKS: dict[str, Callable[[Array, Mapping[str, str]], Array]] = {
    "binary": _sigmoid,
    "cross_entropy": lambda raw, options: 1.0 / (1.0 + exp(-raw)),
    "cross_entropy_lambda": lambda raw, options: log1p(exp(raw)),
    "fair": _same,
    "gamma": _exponential,
    "huber": _same,
    "lambdarank": _same,
    "mape": _same,
    "multiclass": lambda raw, options: softmax(raw),
    "multiclassova": _sigmoid,
    "poisson": _exponential,
    "quantile": _same,
    "rank_xendcg": _same,
    "regression": _squares,
    "regression_l1": _same,
    "tweedie": _exponential,
}


def _predicted(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster: sums, as its objective has them."""
    if estimator.get_params().get("pred_early_stop"):
        raise NotCovered("it stops before its last tree for some rows (pred_early_stop)")
    dumped = cast(Dumped, estimator.booster_.dump_model())
    raw = _raw(estimator, dumped, x)
    # Nothing is dumped of an objective that is a function; predictions are then the sums.
    said = str(dumped.get("objective") or "").split()
    if not said or callable(estimator.objective_):
        return raw[:, 0] if raw.shape[1] == 1 else raw
    name, *words = said
    if name not in _LINKS:
        raise NotCovered(f"the objective {name} is not known")
    options = {word.partition(":")[0]: word.partition(":")[2] for word in words}
    made = _LINKS[name](raw, options)
    return made[:, 0] if made.shape[1] == 1 else made


@converts(*_REGRESSORS, "predict", columns=True)
def regression(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster."""
    return _predicted(estimator, x)


@converts(_CLASSIFIER, "predict_proba", columns=True)
def probabilities(estimator: Fitted, x: Given) -> Array:
    """The predictions of the booster; of two classes, a column for each."""
    if callable(estimator.objective_):
        raise NotCovered(
            "its objective is a function, of which nobody knows what makes probabilities of sums"
        )
    found = _predicted(estimator, x)
    return two_columns(found) if found.ndim == 1 else found


@converts(_CLASSIFIER, "predict", inline=True)
def classes(estimator: Fitted, x: Given) -> Part:
    """The class of the largest probability, the first of those that are equal."""
    return labels(np.asarray(estimator.classes_), argmax(call(estimator, "predict_proba", x), axis=1))
