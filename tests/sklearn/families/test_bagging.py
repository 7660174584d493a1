"""Bagging: members of every kind, on parts of the rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(60, 4))
_CLASSES = (_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 2] > 0.5)
_ASKED = _RANDOM.normal(size=(121, 4))


@pytest.mark.parametrize("options", [{}, {"max_features": 0.5}, {"max_samples": 4}], ids=str)
@pytest.mark.parametrize("names", [None, ["low", "middle", "high"]], ids=str)
def test_trees(options: dict[str, Any], names: Any):
    classes = _CLASSES if names is None else np.array(names)[_CLASSES]
    estimator = BaggingClassifier(n_estimators=6, random_state=3, **options).fit(_ROWS, classes)
    prediction, probabilities = convert(estimator, _ASKED)(_ASKED)
    np.testing.assert_array_equal(probabilities, estimator.predict_proba(_ASKED))
    np.testing.assert_array_equal(prediction, estimator.predict(_ASKED))


def test_log_probabilities():
    estimator = BaggingClassifier(n_estimators=6, random_state=3).fit(_ROWS, _CLASSES)
    with np.errstate(divide="ignore"):
        expected = estimator.predict_log_proba(_ASKED)
        found = convert(estimator, _ASKED, outputs=["predict_log_proba"])(_ASKED)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_decision_functions():
    estimator = BaggingClassifier(LogisticRegression(), n_estimators=4, random_state=3).fit(_ROWS, _CLASSES)
    found = convert(estimator, _ASKED, outputs=["decision_function"])(_ASKED)
    np.testing.assert_allclose(found, estimator.decision_function(_ASKED), rtol=1e-9)


@pytest.mark.parametrize("member", [None, LinearRegression()], ids=str)
def test_numbers(member: Any):
    estimator = BaggingRegressor(member, n_estimators=4, max_features=0.7, random_state=3).fit(
        _ROWS, _ROWS[:, 0]
    )
    np.testing.assert_allclose(
        convert(estimator, _ASKED)(_ASKED), estimator.predict(_ASKED), rtol=1e-9, atol=1e-12
    )
