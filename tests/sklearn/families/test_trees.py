"""Trees and forests: equal for every row, on and beside each threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(120, 4))
_CLASSES = (_ROWS[:, 0] * _ROWS[:, 1] > 0).astype(int) + (_ROWS[:, 2] > 0.5)
_NUMBERS = _ROWS[:, 0] * _ROWS[:, 1] + _ROWS[:, 2]

_CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    ExtraTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(9, max_depth=3, random_state=0),
    ExtraTreesClassifier(9, max_depth=3, random_state=0),
]
_REGRESSORS = [
    DecisionTreeRegressor(max_depth=4, random_state=0),
    ExtraTreeRegressor(max_depth=4, random_state=0),
    RandomForestRegressor(9, max_depth=4, random_state=0),
    ExtraTreesRegressor(9, max_depth=4, random_state=0),
]


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def hostile_rows(estimator: Any, width: int = 4, *, with_nan: bool = True) -> np.ndarray[Any, Any]:
    """Rows on each threshold and beside it, in float64 and in float32, with NaN and large numbers."""
    trees = [each.tree_ for each in getattr(estimator, "estimators_", [estimator])]
    found = _RANDOM.normal(size=(64, width))
    rows = [found]
    for tree in trees:
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
            if feature < 0:
                continue
            near = np.float32(threshold)
            values = [
                *(threshold, np.nextafter(threshold, -np.inf), np.nextafter(threshold, np.inf)),
                *(near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))),
                *([np.nan] if with_nan else []),
            ]
            made = _RANDOM.normal(size=(len(values), width))
            made[:, feature] = values
            rows.append(made)
    # scikit-learn's check adds all numbers, and warns where the sum is none.
    largest = float(np.finfo(np.float32).max) / 2**20
    rows.append(np.full((1, width), largest))
    rows.append(np.full((1, width), -largest))
    rows.append(np.full((1, width), 1e-300))  # 0 in float32
    return np.concatenate(rows)


@pytest.mark.parametrize("estimator", _CLASSIFIERS, ids=_name)
def test_classifiers_are_equal_on_and_beside_each_threshold(estimator: Any):
    estimator.fit(_ROWS, _CLASSES)
    rows = hostile_rows(estimator)
    for dtype in (np.float64, np.float32):
        given = rows.astype(dtype)
        model = convert(estimator, given)
        prediction, probabilities = model(given)
        np.testing.assert_array_equal(probabilities, estimator.predict_proba(given))
        np.testing.assert_array_equal(prediction, estimator.predict(given))


@pytest.mark.parametrize("estimator", _REGRESSORS, ids=_name)
def test_regressors_are_equal_on_and_beside_each_threshold(estimator: Any):
    estimator.fit(_ROWS, _NUMBERS)
    rows = hostile_rows(estimator)
    np.testing.assert_array_equal(convert(estimator, rows)(rows), estimator.predict(rows))


@pytest.mark.parametrize("count", [0, 1, 7, 241])
def test_every_number_of_rows(count: int):
    estimator = RandomForestClassifier(20, max_depth=4, random_state=0).fit(_ROWS, _CLASSES)
    rows = _RANDOM.normal(size=(count, 4))
    prediction, probabilities = convert(estimator, _ROWS)(rows)
    assert prediction.shape == (count,)
    assert probabilities.shape == (count, 3)
    if count:
        np.testing.assert_array_equal(probabilities, estimator.predict_proba(rows))


def test_missing_values_go_where_the_tree_learned():
    rows = _ROWS.copy()
    rows[_RANDOM.random(rows.shape) < 0.2] = np.nan
    estimator = RandomForestClassifier(10, random_state=0).fit(rows, _CLASSES)
    tree = estimator.estimators_[0].tree_
    assert set(tree.missing_go_to_left[tree.children_left >= 0]) == {0, 1}
    np.testing.assert_array_equal(convert(estimator, rows)(rows)[1], estimator.predict_proba(rows))


def test_infinities_are_compared_as_the_trees_compare_them():
    estimator = DecisionTreeRegressor(max_depth=4, random_state=0).fit(_ROWS, _NUMBERS)
    rows = np.array([[np.inf] * 4, [-np.inf] * 4, [1e300] * 4, [-1e300] * 4])
    with np.errstate(over="ignore"):
        expected = estimator.tree_.predict(rows.astype(np.float32))[
            :, 0
        ]  # scikit-learn's check refuses such rows
    np.testing.assert_array_equal(convert(estimator, _ROWS)(rows), expected)


def test_whole_numbers_beyond_float32():
    rows = np.array([[2**24], [2**24 + 1], [2**24 + 2], [2**24 + 3]], np.int64)
    estimator = DecisionTreeRegressor().fit(rows, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(convert(estimator, rows)(rows), estimator.predict(rows))


def test_a_tree_that_is_a_leaf():
    estimator = DecisionTreeClassifier().fit(_ROWS, np.ones(len(_ROWS), int))
    prediction, probabilities = convert(estimator, _ROWS)(_ROWS)
    assert set(prediction) == {1}
    np.testing.assert_array_equal(probabilities, estimator.predict_proba(_ROWS))


def test_nearly_equal_sums_have_the_same_largest():
    """Two classes of equal probability: the last bit of the sum decides, so that its order has to be equal."""
    rows = np.arange(60.0)[:, None]
    names = np.array([0, 1] * 30)
    estimator = RandomForestClassifier(50, max_depth=2, random_state=1).fit(rows, names)
    given = np.arange(-1, 61, 0.25)[:, None]
    prediction, probabilities = convert(estimator, given)(given)
    np.testing.assert_array_equal(prediction, estimator.predict(given))
    np.testing.assert_array_equal(probabilities, estimator.predict_proba(given))


def test_text_as_classes():
    names = np.array(["low", "middle", "high"])[_CLASSES]
    estimator = RandomForestClassifier(5, random_state=0).fit(_ROWS, names)
    np.testing.assert_array_equal(convert(estimator, _ROWS)(_ROWS)[0], estimator.predict(_ROWS))


def test_several_outputs():
    both = np.stack([_CLASSES, _CLASSES % 2 + 5], axis=1)
    estimator = RandomForestClassifier(5, max_depth=3, random_state=0).fit(_ROWS, both)
    model = convert(estimator, _ROWS, outputs=["predict"])
    np.testing.assert_array_equal(model(_ROWS), estimator.predict(_ROWS))
    regressor = RandomForestRegressor(5, max_depth=3, random_state=0).fit(_ROWS, _ROWS[:, :2])
    np.testing.assert_array_equal(convert(regressor, _ROWS)(_ROWS), regressor.predict(_ROWS))


def test_classes_and_probabilities_share_their_trees():
    estimator = RandomForestClassifier(3, max_depth=2, random_state=0).fit(_ROWS, _CLASSES)
    one = convert(estimator, _ROWS, outputs=["predict_proba"])
    both = convert(estimator, _ROWS, outputs=["predict", "predict_proba"])
    assert both.proto.ByteSize() < 1.5 * one.proto.ByteSize()


def test_log_probabilities():
    estimator = RandomForestClassifier(9, max_depth=2, random_state=0).fit(_ROWS, _CLASSES)
    found = convert(estimator, _ROWS, outputs=["predict_log_proba"])(_ROWS)
    np.testing.assert_allclose(found, estimator.predict_log_proba(_ROWS), rtol=1e-12)


@pytest.mark.parametrize("contamination", ["auto", 0.1, 0.3])
def test_isolation_forest_finds_the_same_outliers_where_rows_are_on_the_offset(contamination: Any):
    estimator = IsolationForest(
        n_estimators=30, contamination=contamination, max_features=3, random_state=0
    ).fit(_ROWS)
    rows = np.concatenate([_ROWS, hostile_rows(estimator, 3)[:, [0, 1, 2, 0]]])
    model = convert(estimator, rows, outputs=["predict", "score_samples", "decision_function"])
    prediction, scores, decision = model(rows)
    np.testing.assert_array_equal(prediction, estimator.predict(rows))
    np.testing.assert_allclose(scores, estimator.score_samples(rows), rtol=1e-14)
    np.testing.assert_allclose(decision, estimator.decision_function(rows), atol=1e-14)


def test_embedding():
    estimator = RandomTreesEmbedding(12, random_state=0).fit(_ROWS)
    rows = hostile_rows(estimator, with_nan=False)
    np.testing.assert_array_equal(convert(estimator, rows)(rows), estimator.transform(rows).toarray())
