"""Neighbours: scikit-learn's distances, its ties, its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    LocalOutlierFactor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
)

from onnxsmith.errors import OnnxsmithError
from onnxsmith.sklearn import convert

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(70, 4))
_CLASSES = (_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 1] > 0.5)
_ASKED = _RANDOM.normal(size=(51, 4))
_BOTH = ["predict", "predict_proba"]


def _agrees(estimator: Any, methods: list[str], rows: Any = _ASKED, tolerance: float = 1e-9) -> None:
    found = convert(estimator, rows, outputs=methods)(rows)
    for method, each in zip(methods, found if len(methods) > 1 else [found], strict=True):
        expected = getattr(estimator, method)(rows)
        expected = expected.toarray() if hasattr(expected, "toarray") else expected
        if expected.dtype.kind in "fc":
            np.testing.assert_allclose(each, expected, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classes_and_numbers(algorithm: Any, weights: Any):
    options = {"algorithm": algorithm, "weights": weights}
    _agrees(KNeighborsClassifier(**options).fit(_ROWS, _CLASSES), _BOTH)
    _agrees(KNeighborsRegressor(**options).fit(_ROWS, _ROWS[:, :2]), ["predict"])
    _agrees(RadiusNeighborsClassifier(2.0, outlier_label=1, **options).fit(_ROWS, _CLASSES), _BOTH)


@pytest.mark.filterwarnings("ignore:One or more samples have no neighbors")
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_rows_without_neighbours_have_no_number(weights: Any):
    estimator = RadiusNeighborsRegressor(0.8, weights=weights).fit(_ROWS, _ROWS[:, 0])
    assert np.isnan(estimator.predict(_ASKED)).any()
    _agrees(estimator, ["predict"])


def test_a_row_that_was_fitted_counts_alone_where_distances_weigh():
    estimator = KNeighborsClassifier(weights="distance").fit(_ROWS, _CLASSES)
    _agrees(estimator, _BOTH, _ROWS)


@pytest.mark.parametrize(
    ("metric", "p"), [("manhattan", 2), ("chebyshev", 2), ("minkowski", 3), ("minkowski", 1), ("cosine", 2)]
)
def test_metrics(metric: str, p: int):
    _agrees(KNeighborsTransformer(metric=metric, p=p).fit(_ROWS), ["transform"])
    _agrees(KNeighborsClassifier(metric=metric, p=p).fit(_ROWS, _CLASSES), _BOTH)


def test_of_equally_near_rows_the_first_counts():
    rows = np.array([[0.0], [1.0], [1.0], [1.0], [-1.0], [2.0]])
    classes = np.array([0, 2, 1, 0, 1, 2])
    estimator = KNeighborsClassifier(2, algorithm="brute").fit(rows, classes)
    _agrees(estimator, _BOTH, np.array([[0.0], [1.0], [0.25], [1.5]]))


def test_of_classes_with_as_many_neighbours_the_first_is_taken():
    estimator = KNeighborsClassifier(2).fit(np.array([[0.0], [1.0], [5.0]]), ["b", "a", "c"])
    _agrees(estimator, ["predict"], np.array([[0.4], [0.6], [3.5]]))


def test_float32():
    rows = _ROWS.astype(np.float32)
    _agrees(KNeighborsClassifier().fit(rows, _CLASSES), _BOTH, _ASKED.astype(np.float32), 1e-6)


def test_several_outputs():
    _agrees(KNeighborsClassifier().fit(_ROWS, np.stack([_CLASSES, _CLASSES % 2], axis=1)), ["predict"])


def test_graphs():
    _agrees(KNeighborsTransformer(mode="connectivity").fit(_ROWS), ["transform"])
    _agrees(RadiusNeighborsTransformer(radius=1.5).fit(_ROWS), ["transform"])
    _agrees(RadiusNeighborsTransformer(radius=1.5, mode="connectivity").fit(_ROWS), ["transform"])


@pytest.mark.parametrize("contamination", ["auto", 0.2])
def test_local_outliers(contamination: Any):
    estimator = LocalOutlierFactor(novelty=True, contamination=contamination).fit(_ROWS)
    _agrees(estimator, ["predict", "score_samples", "decision_function"])


def test_a_row_without_neighbours_and_without_a_label_is_refused_when_the_model_runs():
    estimator = RadiusNeighborsClassifier(0.5).fit(_ROWS, _CLASSES)
    model = convert(estimator, _ROWS, outputs=["predict"])
    far = np.full((1, 4), 100.0)
    with pytest.raises(ValueError, match="No neighbors found"):
        estimator.predict(far)
    with pytest.raises(OnnxsmithError):
        model(far)


def test_a_function_as_weights_is_refused_by_name():
    estimator = KNeighborsClassifier(weights=lambda distances: distances).fit(_ROWS, _CLASSES)
    with pytest.raises(OnnxsmithError, match="KNeighborsClassifier"):
        convert(estimator, _ROWS)
