"""Histogram gradient boosting: double precision, categories, missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(300, 4))
_ROWS[_RANDOM.random(_ROWS.shape) < 0.1] = np.nan
_ROWS[:, 2] = _RANDOM.integers(0, 40, 300)
_ROWS[:, 3] = _RANDOM.integers(0, 5, 300) - 2.5
_ROWS[::17, 2] = np.nan
_NUMBERS = (_ROWS[:, 2] % 3 == 0) * 2.0 + _ROWS[:, 3] + np.nan_to_num(_ROWS[:, 0])
_CLASSES = np.digitize(_NUMBERS, [-1.0, 1.0])


def _hostile_rows(estimator: Any) -> np.ndarray[Any, Any]:
    """Rows on each threshold and beside it in float64, with infinities, and categories that nobody has seen."""
    rows = [_ROWS]
    encoder = estimator._preprocessor
    is_category = np.zeros(4, bool) if encoder is None else estimator.is_categorical_
    order = np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])
    for stage in estimator._predictors:
        for predictor in stage:
            for node in predictor.nodes:
                if node["is_leaf"] or node["is_categorical"]:
                    continue
                threshold = node["num_threshold"]
                values = [
                    threshold,
                    np.nextafter(threshold, -np.inf),
                    np.nextafter(threshold, np.inf),
                    np.nan,
                ]
                made = _ROWS[_RANDOM.integers(0, 300, len(values))].copy()
                made[:, order[node["feature_idx"]]] = values
                rows.append(made)
    odd = _ROWS[:12].copy()
    odd[:, 2] = [-1, -0.5, 40, 255, 256, 257, 300, 2.5, 1e6, 1e12, np.nan, 7]
    odd[:, 3] = [99, -99, *odd[2:, 3]]
    rows.append(odd)
    extreme = _ROWS[:2].copy()
    extreme[:, 0] = [np.inf, -np.inf]
    rows.append(extreme)
    return np.concatenate(rows)


@pytest.mark.parametrize("categories", [None, [2], [2, 3]], ids=str)
@pytest.mark.parametrize("count", [2, 3])
def test_classes(categories: Any, count: int):
    estimator = HistGradientBoostingClassifier(
        max_iter=12, categorical_features=categories, min_samples_leaf=5, random_state=0
    ).fit(_ROWS, _CLASSES % count)
    rows = _hostile_rows(estimator)
    methods = ["predict", "decision_function", "predict_proba"]
    classes, decision, probabilities = convert(estimator, rows, outputs=methods)(rows)
    np.testing.assert_array_equal(decision, estimator.decision_function(rows))
    np.testing.assert_array_equal(classes, estimator.predict(rows))
    np.testing.assert_allclose(probabilities, estimator.predict_proba(rows), rtol=1e-12)


def test_there_are_splits_by_categories():
    """What the tests above compare is there: nodes that split by a set."""
    estimator = HistGradientBoostingRegressor(max_iter=3, categorical_features=[2, 3], min_samples_leaf=5)
    estimator.fit(_ROWS, _NUMBERS)
    nodes = np.concatenate([each.nodes for stage in estimator._predictors for each in stage])
    assert nodes["is_categorical"].sum() > 3
    assert len(set(nodes["missing_go_to_left"][nodes["is_categorical"].astype(bool)])) == 2


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "gamma", "quantile"])
def test_numbers(loss: str):
    estimator = HistGradientBoostingRegressor(
        loss=loss, quantile=0.3, max_iter=12, categorical_features=[3, 2], random_state=0
    ).fit(_ROWS, np.abs(_NUMBERS) + 1)
    rows = _hostile_rows(estimator)
    np.testing.assert_allclose(convert(estimator, rows)(rows), estimator.predict(rows), rtol=1e-13)


def test_float32_is_compared_in_double_precision():
    estimator = HistGradientBoostingRegressor(max_iter=8).fit(_ROWS, _NUMBERS)
    rows = _hostile_rows(estimator).astype(np.float32)
    np.testing.assert_array_equal(convert(estimator, rows)(rows), estimator.predict(rows))


@pytest.mark.parametrize("count", [0, 1, 7])
def test_few_rows(count: int):
    estimator = HistGradientBoostingClassifier(max_iter=4, categorical_features=[2]).fit(_ROWS, _CLASSES)
    found = convert(estimator, _ROWS, outputs=["predict_proba"])(_ROWS[:count])
    assert found.shape == (count, 3)
    if count:
        np.testing.assert_allclose(found, estimator.predict_proba(_ROWS[:count]), rtol=1e-12)
