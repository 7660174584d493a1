"""Histogram gradient boosting: X stays in double precision, columns may be categories, NaN has a side at each node."""

from __future__ import annotations

import numpy as np

from onnxsmith.numpy import Array, argmax, asarray, concatenate, equal, take
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.boosting import boosted, inverse_link
from onnxsmith.sklearn.families.tree_tables import Numbers, TreeTable
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted, Given, Inner, either

_CLASSIFIER = "sklearn.ensemble.HistGradientBoostingClassifier"
_REGRESSOR = "sklearn.ensemble.HistGradientBoostingRegressor"

#: A category's code is cast to a byte before it is looked up in a set of bits.
_CODES = 256


def _raw(estimator: Fitted, x: Given) -> Array:
    """The sum of all trees and the baseline, of shape (rows, trees of an iteration)."""
    made = _encoded(estimator, x)
    splits = _Splits(estimator, int(made.shape[1]))
    stages = [[splits.table(each) for each in stage] for stage in estimator._predictors]
    start = np.asarray(estimator._baseline_prediction, np.float64).ravel()
    if not stages:
        return made[:, :1] * 0.0 + asarray(start)
    return boosted(stages, start, splits.with_sides(made))


def _encoded(estimator: Fitted, x: Given) -> Array:
    """The input of the trees: categories as codes, in front; NaN for those that are not known."""
    encoder = getattr(estimator, "_preprocessor", None)
    if encoder is None:
        assert isinstance(x, Array)  # a frame is a matrix by now, where there are no categories
        return x.astype(np.float64)
    if not isinstance(x, Array):
        return call(encoder, "transform", x).astype(np.float64)
    is_category = np.asarray(estimator.is_categorical_)
    known = encoder.named_transformers_["encoder"].categories_
    columns = [
        _codes(x[:, int(k)], names) for k, names in zip(np.flatnonzero(is_category), known, strict=True)
    ]
    rest = np.flatnonzero(~is_category)
    if len(rest):
        columns.append(take(x, asarray(rest), axis=1).astype(np.float64))
    return concatenate(columns, axis=1)


def _codes(column: Array, names: Numbers) -> Array:
    """The place of each element in its categories; NaN for others and for NaN, which none is equal to."""
    wide = np.asarray(names, np.float64)
    found = equal(column.astype(np.float64)[:, None], asarray(wide))
    code = argmax(found, axis=1).astype(np.float64)
    return either(found.any(axis=1), code, np.nan)[:, None]


class _Splits:
    """The trees' tables. A split by categories becomes one by a number: a column that is 0 on the left, 1 on the right.

    Columns are made once for each set of categories; a table by code says on which side it is.
    """

    def __init__(self, estimator: Fitted, width: int) -> None:
        self._width = width
        self._known, self._places = estimator._bin_mapper.make_known_categories_bitsets()
        #: By feature and sides, the column.
        self._columns: dict[tuple[int, bytes], int] = {}

    def table(self, predictor: Inner) -> tuple[TreeTable, Numbers]:
        """The table of a tree, and the values of its nodes."""
        nodes = predictor.nodes
        is_leaf = nodes["is_leaf"].astype(bool)
        left = np.where(is_leaf, -1, nodes["left"].astype(np.int64))
        right = np.where(is_leaf, -1, nodes["right"].astype(np.int64))
        feature = nodes["feature_idx"].astype(np.int64)
        threshold = nodes["num_threshold"].astype(np.float64)
        missing = nodes["missing_go_to_left"].astype(np.int64)
        for place in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~is_leaf):
            node = nodes[place]
            feature[place] = self._column(node, predictor.raw_left_cat_bitsets[node["bitset_idx"]])
            threshold[place] = 0.5
        return TreeTable(left, right, feature, threshold, missing), nodes["value"].astype(np.float64)

    def _column(self, node: np.void, left: Numbers) -> int:
        feature = int(node["feature_idx"])
        goes_left = _bits(left)
        is_known = goes_left | _bits(self._known[self._places[feature]])
        unknown = 0.0 if node["missing_go_to_left"] else 1.0
        sides = np.append(np.where(is_known, np.where(goes_left, 0.0, 1.0), unknown), unknown)
        return self._width + self._columns.setdefault((feature, sides.tobytes()), len(self._columns))

    def with_sides(self, x: Array) -> Array:
        """X, and beside it the columns of sides."""
        if not self._columns:
            return x
        by_feature: dict[int, list[tuple[int, Numbers]]] = {}
        for (feature, content), column in self._columns.items():
            by_feature.setdefault(feature, []).append((column, np.frombuffer(content)))
        parts, order = [x], list(range(self._width))
        for feature, made in by_feature.items():
            code = x[:, feature]
            # NaN and what is below 0 have the place behind all codes.
            is_code = code >= 0
            place = either(is_code, either(is_code, code, 0.0).astype(np.int64) % _CODES, _CODES)
            parts.append(take(asarray(np.stack([sides for _, sides in made], axis=1)), place, axis=0))
            order += [self._width + column for column, _ in made]
        joined = concatenate(parts, axis=1)
        if order == sorted(order):
            return joined
        return take(joined, asarray(np.argsort(np.array(order))), axis=1)


def _bits(words: Numbers) -> Numbers:
    """Eight words of 32 bits as 256 truth values."""
    return np.unpackbits(np.ascontiguousarray(words, "<u4").view(np.uint8), bitorder="little").astype(bool)


@converts(_REGRESSOR, "predict")
def regression(estimator: Fitted, x: Given) -> Array:
    """The sum of all trees, through the loss's inverse link."""
    return inverse_link(estimator._loss, _raw(estimator, x)[:, 0])


@converts(_CLASSIFIER, "decision_function")
def decision(estimator: Fitted, x: Given) -> Array:
    """The sum of all trees; of two classes one number for each row."""
    raw = _raw(estimator, x)
    return raw[:, 0] if raw.shape[1] == 1 else raw
