"""The nearest centroid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(60, 4))
_CLASSES = (_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 1] > 0.5)


@pytest.mark.parametrize("options", [{}, {"priors": "empirical"}, {"shrink_threshold": 0.1}], ids=str)
@pytest.mark.parametrize("count", [2, 3])
def test_classes_and_scores(options: dict[str, Any], count: int):
    estimator = NearestCentroid(**options).fit(_ROWS, _CLASSES % count)
    methods = ["predict", "decision_function", "predict_proba", "predict_log_proba"]
    classes, *others = convert(estimator, _ROWS, outputs=methods)(_ROWS)
    np.testing.assert_array_equal(classes, estimator.predict(_ROWS))
    for method, each in zip(methods[1:], others, strict=True):
        np.testing.assert_allclose(each, getattr(estimator, method)(_ROWS), rtol=1e-9, atol=1e-12)


def test_another_metric():
    estimator = NearestCentroid(metric="manhattan").fit(_ROWS, _CLASSES)
    np.testing.assert_array_equal(
        convert(estimator, _ROWS, outputs=["predict"])(_ROWS), estimator.predict(_ROWS)
    )
