"""Gradient boosting and AdaBoost: sums are equal to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(90, 4))
_CLASSES = (_ROWS[:, 0] * _ROWS[:, 1] > 0).astype(int) + (_ROWS[:, 2] > 0.5)
_NUMBERS = _ROWS[:, 0] * _ROWS[:, 1] + _ROWS[:, 2]
_ASKED = _RANDOM.normal(size=(191, 4)) * 2
_METHODS = ["predict", "decision_function", "predict_proba", "predict_log_proba"]


def _agrees(estimator: Any) -> None:
    classes, decision, probabilities, logarithms = convert(estimator, _ASKED, outputs=_METHODS)(_ASKED)
    np.testing.assert_array_equal(classes, estimator.predict(_ASKED))
    np.testing.assert_allclose(decision, estimator.decision_function(_ASKED), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(probabilities, estimator.predict_proba(_ASKED), rtol=1e-12)
    np.testing.assert_allclose(logarithms, estimator.predict_log_proba(_ASKED), rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"init": "zero"},
        {"init": RandomForestClassifier(3, max_depth=2, random_state=0)},
        {"subsample": 0.5, "learning_rate": 0.3},
    ],
    ids=str,
)
@pytest.mark.parametrize("count", [2, 3])
def test_gradient_boosting_of_classes(options: dict[str, Any], count: int):
    _agrees(
        GradientBoostingClassifier(n_estimators=12, random_state=0, **options).fit(_ROWS, _CLASSES % count)
    )


def test_exponential_loss():
    _agrees(GradientBoostingClassifier(n_estimators=12, loss="exponential").fit(_ROWS, _CLASSES % 2))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_gradient_boosting_of_numbers_is_equal_to_the_last_bit(loss: str):
    estimator = GradientBoostingRegressor(n_estimators=40, loss=loss, random_state=0).fit(_ROWS, _NUMBERS)
    np.testing.assert_array_equal(convert(estimator, _ASKED)(_ASKED), estimator.predict(_ASKED))


def test_raw_predictions_are_equal_to_the_last_bit():
    estimator = GradientBoostingClassifier(n_estimators=40, random_state=0).fit(_ROWS, _CLASSES)
    found = convert(estimator, _ASKED, outputs=["decision_function"])(_ASKED)
    np.testing.assert_array_equal(found, estimator.decision_function(_ASKED))


def test_gradient_boosting_that_starts_from_another_estimator():
    estimator = GradientBoostingRegressor(n_estimators=5, init=LinearRegression(), random_state=0).fit(
        _ROWS, _NUMBERS
    )
    # It is given rows in float32, and computes in it.
    model = convert(estimator, _ASKED, tolerance=1e-5)
    wanted = estimator.predict(_ASKED)
    # Terms of the size of the largest result cancel in a small one: it has their rounding, in another order.
    rounding = np.finfo(np.float32).eps * float(np.abs(wanted).max())
    np.testing.assert_allclose(model(_ASKED), wanted, rtol=1e-5, atol=rounding)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    "member", [None, DecisionTreeClassifier(max_depth=2, random_state=0), LogisticRegression()], ids=str
)
def test_ada_boost_of_classes(count: int, member: Any):
    _agrees(AdaBoostClassifier(member, n_estimators=10, random_state=0).fit(_ROWS, _CLASSES % count))


def test_ada_boost_of_text():
    names = np.array(["low", "middle", "high"])[_CLASSES]
    _agrees(AdaBoostClassifier(n_estimators=10, random_state=0).fit(_ROWS, names))


@pytest.mark.parametrize("member", [None, DecisionTreeRegressor(max_depth=1), LinearRegression()], ids=str)
def test_ada_boost_of_numbers(member: Any):
    estimator = AdaBoostRegressor(member, n_estimators=10, random_state=0).fit(_ROWS, _NUMBERS)
    np.testing.assert_allclose(convert(estimator, _ASKED)(_ASKED), estimator.predict(_ASKED), rtol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "targets", "method"),
    [
        (GradientBoostingClassifier(n_estimators=16, random_state=0), _CLASSES % 2, "decision_function"),
        (GradientBoostingClassifier(n_estimators=16, random_state=0), _CLASSES, "decision_function"),
        (GradientBoostingRegressor(init=DecisionTreeRegressor(max_depth=2)), _NUMBERS, "predict"),
        (HistGradientBoostingClassifier(max_iter=16, min_samples_leaf=3), _CLASSES, "decision_function"),
    ],
    ids=["two classes", "three classes", "start by an estimator", "histograms"],
)
def test_few_rows_and_many_have_the_same_sums_to_the_last_bit(estimator: Any, targets: Any, method: str):
    estimator.fit(_ROWS, targets)
    model = convert(estimator, _ASKED, outputs=[method], verify=False)
    assert "If" in {node.op_type for function in model.proto.functions for node in function.node}
    every = model(_ASKED)
    np.testing.assert_array_equal(every, getattr(estimator, method)(_ASKED))
    for rows in (0, 1, 31, 32, 33):
        np.testing.assert_array_equal(model(_ASKED[:rows]), every[:rows])
